import { startOtlpReceiver } from '@pixmesh/testkit/otlp-receiver';
import type { ReceivedSpan } from '@pixmesh/testkit/otlp-spans';

export interface TraceReceiver {
  /** For the services; undefined when nobody looks at traces. */
  endpoint: string | undefined;
  /** What arrived so far; undefined when another collector receives it. */
  spans: (() => readonly ReceivedSpan[]) | undefined;
  close(): Promise<void>;
}

/** The collector of the environment where there is one; otherwise, for the demo, one in this process. */
export async function startTraceReceiver(wanted: boolean): Promise<TraceReceiver> {
  const given = process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (given || !wanted) {
    return { endpoint: given || undefined, spans: undefined, close: async () => undefined };
  }
  const receiver = await startOtlpReceiver();
  return {
    endpoint: receiver.url,
    spans: receiver.spans,
    close: async () => receiver[Symbol.asyncDispose](),
  };
}
