import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { readSpans, type ReceivedSpan } from './otlp-spans.ts';

/** Spans kept; older ones are forgotten. */
const SPANS_MAX = 50_000;

export type OtlpReceiver = AsyncDisposable & {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  spans(): readonly ReceivedSpan[];
  clear(): void;
};

/** Times in nanoseconds leave as text: JSON has no such integers. */
function bigintsAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/**
 * A collector just large enough to look at traces: takes OTLP over HTTP (protobuf) and keeps the spans,
 * for its own process and, by `GET /spans`, for others.
 */
export async function startOtlpReceiver(options: { port?: number } = {}): Promise<OtlpReceiver> {
  let spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'GET' && request.url === '/spans') {
        response.end(JSON.stringify(spans, bigintsAsText));
        return;
      }
      if (request.url === '/v1/traces') {
        spans.push(...readSpans(Buffer.concat(chunks)));
        if (spans.length > SPANS_MAX) spans = spans.slice(-SPANS_MAX);
      }
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    clear: () => {
      spans = [];
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
