import { context, propagation, trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace';

import { requestIdOnSpans } from '../request-id.ts';
import { scrubSpans } from '../scrub-spans.ts';

/** Traces this process into memory, for tests that read spans. */
export function recordSpans(): {
  /** What has ended, in the order in which it did. */
  ended(): ReadableSpan[];
  forget(): void;
  stop(): Promise<void>;
} {
  const exporter = new InMemorySpanExporter();
  const sdk = new NodeSDK({
    autoDetectResources: false,
    metricReaders: [],
    logRecordProcessors: [],
    spanProcessors: [requestIdOnSpans(), scrubSpans(new SimpleSpanProcessor({ exporter }))],
  });
  sdk.start();
  return {
    ended: () => exporter.getFinishedSpans(),
    forget: () => exporter.reset(),
    stop: async () => {
      await sdk.shutdown();
      // Other files run in this process, and trace nothing.
      for (const api of [trace, context, propagation]) api.disable();
    },
  };
}
