import { counter, observedGauge } from '@pixmesh/telemetry/metrics';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { Contradiction } from '#payouts/ledger-commands.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';

/** What payouts tells operators about its own business, each with its metric. */

const sends = counter('payout_sends_total', 'Calls that sent a payout, by outcome');
const abandoned = counter(
  'payout_late_sends_total',
  'Claims whose call was not made because too little lease was left',
);
const contradictions = counter(
  'payout_contradictions_total',
  'Ends that the acquirer or the ledger contradicted later, by kind',
);
const problems = counter(
  'payout_look_problems_total',
  'Looks at the acquirer that showed what cannot be, by problem',
);

const holdProblems = counter(
  'payout_hold_problems_total',
  'Holds that contradict their intents, by problem',
);
const intents = counter(
  'payout_intents_settled_total',
  'Intents that their own call had left behind, by how the job ended them',
);

/** `unknown` and `moved` are looked at again. */
export function intentSettled(outcome: 'finished' | 'dropped' | 'moved' | 'unknown'): void {
  intents.add(1, { outcome });
}

const HOLD_PROBLEMS = {
  resource_held: 'another hold of an intent is open or settled',
  unknown_pix: 'the ledger refused the hold of a payout for its Pix',
  ended: 'the hold of an intent has ended before its payout began',
  orphaned: 'a hold stands without its payout',
} as const;
type HoldProblem = keyof typeof HOLD_PROBLEMS;

/** Cannot be while everybody keeps to the protocol of holds; reconciliation shows the money. */
export function holdContradicted(logger: Logger, intent: PayoutRow, problem: HoldProblem): void {
  holdProblems.add(1, { problem });
  logger.error({ payout_id: intent.id, hold_id: intent.holdId }, HOLD_PROBLEMS[problem]);
}

export type SendOutcomeKind = 'accepted' | 'refused' | 'unknown';

export function sendEnded(
  logger: Logger,
  payout: PayoutRow,
  outcome: { kind: SendOutcomeKind; cause?: string },
): void {
  sends.add(1, { outcome: outcome.kind });
  if (outcome.kind !== 'unknown') return;
  logger.warn({ payout_id: payout.id, cause: outcome.cause }, 'a send ended unknown');
}

export function sendAbandoned(logger: Logger, payout: PayoutRow): void {
  abandoned.add(1);
  logger.warn({ payout_id: payout.id }, 'a send came too late for its lease and was not made');
}

/** An operator has to look: money moved against what the merchant was told (decision 120). */
export function contradicted(logger: Logger, payout: PayoutRow, kind: Contradiction): void {
  contradictions.add(1, { kind });
  logger.error(
    { payout_id: payout.id, status: payout.status, contradiction: kind },
    'a payout is contradicted; its amount goes to suspense',
  );
}

export const LOOK_PROBLEMS = {
  vanished: 'the acquirer does not know a payout that it accepted',
  other_amount: 'the acquirer has this payout with another amount',
  never_sent: 'the acquirer knows a payout that was never sent',
  unfinished: 'the acquirer is still at work on a payout that has ended',
  return_without_id: 'a return of a payout has no id and cannot be booked',
} as const;
export type LookProblem = keyof typeof LOOK_PROBLEMS;

export function lookShowedProblem(logger: Logger, payout: PayoutRow, problem: LookProblem): void {
  problems.add(1, { problem });
  logger.error({ payout_id: payout.id, status: payout.status }, LOOK_PROBLEMS[problem]);
}

export type Overdue = { unanswered: number; unsent: number };

export function payoutsOverdue(logger: Logger, overdue: Overdue): void {
  if (overdue.unanswered === 0 && overdue.unsent === 0) return;
  logger.error(overdue, 'payouts wait for the acquirer for too long');
}

/** Gauges that are read when somebody scrapes. */
export function observeOverdue(read: () => Promise<Overdue>): void {
  observedGauge(
    'payouts_unanswered',
    'Payouts sent more than 15 minutes ago without a definite answer',
    async () => [{ value: (await read()).unanswered }],
  );
  observedGauge('payouts_unsent', 'Payouts due to be sent for more than 30 seconds', async () => [
    { value: (await read()).unsent },
  ]);
}
