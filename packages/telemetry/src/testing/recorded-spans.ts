import { NodeSDK } from '@opentelemetry/sdk-node';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace';

import { scrubSpans } from '../scrub-spans.ts';

/** Traces this process into memory, for tests that look at spans. */
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
    spanProcessors: [scrubSpans(new SimpleSpanProcessor({ exporter }))],
  });
  sdk.start();
  return {
    ended: () => exporter.getFinishedSpans(),
    forget: () => exporter.reset(),
    stop: () => sdk.shutdown(),
  };
}
