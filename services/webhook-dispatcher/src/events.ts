import type { Logger } from '@pixmesh/telemetry/logger';
import { counter, durationHistogram, observedGauge } from '@pixmesh/telemetry/metrics';

import type { ExchangeResult } from '#exchange/exchange.ts';

const attempts = counter('webhook_attempts_total', 'Attempts by outcome and reason');
const repeats = counter(
  'webhook_repeated_claims_total',
  'Claims of deliveries whose earlier claim ended without an outcome; each may be a repeated request',
);
const lost = counter(
  'webhook_outcomes_lost_total',
  'Attempts that could not be recorded, by cause',
);
const abandoned = counter(
  'webhook_late_sends_total',
  'Claims given back because too little lease was left',
);
const firstAttempt = durationHistogram(
  'webhook_event_to_first_attempt_seconds',
  'From the event in its service to the beginning of the first attempt',
);

/** Ids and codes only: the URL's query may be a secret of the merchant's, the body is personal data. */
export function attemptMade(
  logger: Logger,
  attempt: { id: string; event: string; attemptNumber: number },
  result: ExchangeResult,
): void {
  const { outcome, reason, status, durationMs } = result;
  attempts.add(1, { outcome, reason: reason ?? 'none' });
  logger.debug(
    {
      delivery_id: attempt.id,
      event: attempt.event,
      attempt: attempt.attemptNumber,
      outcome,
      reason,
      status,
      duration_ms: durationMs,
    },
    'delivery attempt made',
  );
}

export function firstAttemptStarted(secondsSinceEvent: number): void {
  firstAttempt.record(Math.max(0, secondsSinceEvent));
}

export function claimRepeated(): void {
  repeats.add(1);
}

/** `fenced`: another claim has the delivery. `unstorable`: the database refused the row itself. */
export function outcomesLost(cause: 'fenced' | 'unstorable', count: number): void {
  lost.add(count, { cause });
}

export function sendAbandoned(): void {
  abandoned.add(1);
}

/** Gauges that are read when somebody scrapes. */
export function observeQueue(deps: {
  inFlight(): number;
  readDue(): Promise<{ count: number; oldestSeconds: number }>;
}): void {
  observedGauge('webhook_in_flight', 'Sends in flight in this process', async () => [
    { value: deps.inFlight() },
  ]);
  observedGauge(
    'webhook_due_deliveries',
    'Deliveries that are due now, up to a bound',
    async () => [{ value: (await deps.readDue()).count }],
  );
  observedGauge('webhook_oldest_due_age_seconds', 'Age of the oldest due delivery', async () => [
    { value: (await deps.readDue()).oldestSeconds },
  ]);
}
