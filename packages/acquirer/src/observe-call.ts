import { metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { observedGauge } from '@pixmesh/telemetry/metrics';

import type { Breaker } from './breaker.ts';
import type { Operation } from './outcome-rules.ts';

/** Seconds; the upper ones lie around the deadlines that installations set. */
const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

const duration = metrics.getMeter('pixmesh').createHistogram('acquirer_call_duration_seconds', {
  description: 'Time until an operation at the acquirer had an outcome',
  unit: 's',
  advice: { explicitBucketBoundaries: SECONDS_BUCKETS },
});

const unreadableItems = metrics
  .getMeter('pixmesh')
  .createCounter('acquirer_unreadable_items_total', {
    description: 'Items of the acquirer’s lists that could not be read, by operation',
  });

/** Every reading of a list counts anew: a number that grows steadily is an item that stays unreadable. */
export function observeUnreadable(operation: Operation, items: number): void {
  if (items > 0) unreadableItems.add(items, { operation });
}

type Readable = Pick<Breaker<never>, 'isAway' | 'accountsAway'>;

/**
 * Of the operations that were called. Read at a scrape and not written at each change: in a process that calls no more,
 * nothing would end an outage.
 */
export function observeBreakers(breakers: ReadonlyMap<Operation, Readable>): void {
  observedGauge(
    'acquirer_breaker_open',
    '1 while the acquirer does not answer an operation: a call was held back, or failed, within the last minute',
    async () => byOperation(breakers, (breaker) => (breaker.isAway() ? 1 : 0)),
  );
  observedGauge(
    'acquirer_account_breakers_open',
    'Accounts whose calls alone are held back, because the acquirer does not answer them, by operation',
    async () => byOperation(breakers, (breaker) => breaker.accountsAway()),
  );
}

function byOperation(
  breakers: ReadonlyMap<Operation, Readable>,
  read: (breaker: Readable) => number,
) {
  return [...breakers].map(([operation, breaker]) => ({
    value: read(breaker),
    attributes: { operation },
  }));
}

/** One span and one measurement per operation, labelled by its outcome; never ids, keys or amounts. */
export async function observeCall<Result extends { kind: string }>(
  operation: Operation,
  work: () => Promise<Result>,
): Promise<Result> {
  const startedAtMs = performance.now();
  const tracer = trace.getTracer('pixmesh');
  return await tracer.startActiveSpan(
    `acquirer ${operation}`,
    { kind: SpanKind.CLIENT },
    async (span) => {
      try {
        const result = await work();
        span.setAttribute('acquirer.outcome', result.kind);
        if (result.kind === 'unknown') span.setStatus({ code: SpanStatusCode.ERROR });
        const seconds = (performance.now() - startedAtMs) / 1000;
        duration.record(seconds, { operation, outcome: result.kind });
        return result;
      } finally {
        span.end();
      }
    },
  );
}
