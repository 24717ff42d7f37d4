import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import type { ReceivedSpan } from '@pixmesh/testkit/otlp-spans';
import { renderTrace } from './trace-tree.ts';

/** Services send their spans in batches; this long without a new one means that they have come. */
const SETTLED_MS = 800;
const WAIT_LIMIT_MS = 4_000;
const POLL_INTERVAL_MS = 100;

/** Waits for a pooled connection say nothing of the path. */
const UNINTERESTING = new Set(['pg-pool.connect', 'pg.connect']);

/** Prints one trace of each of three paths: the charge's creation, the acquirer's callback, and the payout. */
export async function showTraces(
  spans: () => readonly ReceivedSpan[],
  startedAtNs: bigint,
): Promise<void> {
  await waitUntilComplete(spans);
  const recent = spans().filter(
    (span) => span.startNs >= startedAtNs && !UNINTERESTING.has(span.name),
  );
  showRoad('Trace of POST /v1/charges', recent, (span) => isRequest(span, /^\/v1\/charges$/));
  showRoad("Trace of the acquirer's callback of the payment", recent, (span) =>
    isRequest(span, /^\/acquirer\//),
  );
  showRoad('Trace of POST /v1/payouts', recent, (span) => isRequest(span, /^\/v1\/payouts$/));
}

function showRoad(
  title: string,
  spans: readonly ReceivedSpan[],
  isEntry: (span: ReceivedSpan) => boolean,
): void {
  const entry = spans.find((span) => isEntry(span));
  process.stdout.write(`\n${styleText('green', title, { stream: process.stdout })}\n\n`);
  const lines = entry
    ? renderTrace(spans.filter((span) => span.traceId === entry.traceId))
    : ['(no span of it arrived)'];
  for (const line of lines) process.stdout.write(`${line}\n`);
}

function isRequest(span: ReceivedSpan, path: RegExp): boolean {
  const { attributes } = span;
  const target = attributes['url.path'] ?? attributes['http.target'] ?? attributes['http.route'];
  const method = attributes['http.request.method'] ?? attributes['http.method'];
  if (span.kind !== 'server' || span.service !== 'gateway' || method !== 'POST') return false;
  return path.test(String(target));
}

async function waitUntilComplete(spans: () => readonly ReceivedSpan[]): Promise<void> {
  const deadline = performance.now() + WAIT_LIMIT_MS;
  let count = spans().length;
  let changedAt = performance.now();
  while (performance.now() < deadline && performance.now() - changedAt < SETTLED_MS) {
    await delay(POLL_INTERVAL_MS);
    if (spans().length === count) continue;
    count = spans().length;
    changedAt = performance.now();
  }
}
