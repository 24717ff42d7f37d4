import { counter, observedGauge } from '@pixmesh/telemetry/metrics';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { RefundRow } from './refund-row.ts';

/** Metrics of refunds, and the log lines that go with them. */

const OUTCOMES = ['accepted', 'refused', 'unknown'] as const;

const calls = counter(
  'refund_calls_total',
  'Calls that ordered a refund, by outcome',
  OUTCOMES.map((outcome) => ({ outcome })),
);
const ended = counter('refunds_ended_total', 'Refunds that have ended, by status', [
  { status: 'completed' },
  { status: 'failed' },
]);
const holdProblems = counter(
  'refund_hold_problems_total',
  'Holds that contradict their refunds, by problem',
  [],
);
const problems = counter(
  'refund_look_problems_total',
  'Status checks that showed what cannot be, by problem',
  [],
);

const HOLD_PROBLEMS = {
  resource_held: 'refund hold: another one is open or settled',
  unknown_pix: 'refund hold: the Pix of a paid charge is not credited',
  ended: 'refund hold ended before its refund began',
  orphaned: 'refund hold without its refund',
  end_refused: 'refund hold ended otherwise than its refund',
} as const;

/** Impossible while every service follows the protocol of holds; reconciliation shows the money. */
export function holdContradicted(
  logger: Logger,
  refund: RefundRow,
  problem: keyof typeof HOLD_PROBLEMS,
): void {
  holdProblems.add(1, { problem });
  logger.error({ ...idsOf(refund), hold_id: refund.holdId }, HOLD_PROBLEMS[problem]);
}

export function refundCalled(
  logger: Logger,
  refund: RefundRow,
  outcome: { kind: (typeof OUTCOMES)[number]; cause?: string },
): void {
  calls.add(1, { outcome: outcome.kind });
  if (outcome.kind !== 'unknown') return;
  logger.warn({ ...idsOf(refund), cause: outcome.cause }, 'refund call outcome unknown');
}

export function refundEnded(
  logger: Logger,
  refund: RefundRow,
  end: { status: 'completed' | 'failed'; reason: string | null },
): void {
  ended.add(1, { status: end.status });
  if (end.status === 'completed') return;
  logger.warn({ ...idsOf(refund), reason: end.reason }, 'refund failed');
}

const CHECK_PROBLEMS = {
  vanished: 'accepted refund not found at the acquirer',
  other_amount: 'refund has another amount at the acquirer',
} as const;

export function reportRefundProblem(
  logger: Logger,
  refund: RefundRow,
  problem: keyof typeof CHECK_PROBLEMS,
): void {
  problems.add(1, { problem });
  logger.error(idsOf(refund), CHECK_PROBLEMS[problem]);
}

/** A gauge that is read at each scrape; age alone never ends a refund (decision 118). */
export function observeOverdue(read: () => Promise<number>): void {
  observedGauge(
    'refunds_unanswered',
    'Refunds without an end 15 minutes after their first call, or after their creation where none was made',
    async () => [{ value: await read() }],
  );
}

function idsOf(refund: RefundRow) {
  return { refund_id: refund.id, charge_id: refund.chargeId };
}
