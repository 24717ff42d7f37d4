import type { HoldProblem } from '@pixmesh/acquirer-orders/hold-intent';
import { counter, observedGauge } from '@pixmesh/telemetry/metrics';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { Contradiction } from '#payouts/ledger-commands.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';

/** What payouts reports to operators about its own business, each with its metric. */

const OUTCOMES = ['accepted', 'refused', 'unknown'] as const;
export type SendOutcomeKind = (typeof OUTCOMES)[number];

const sends = counter(
  'payout_sends_total',
  'Calls that sent a payout, by outcome',
  OUTCOMES.map((outcome) => ({ outcome })),
);
const abandoned = counter(
  'payout_late_sends_total',
  'Claims whose call was not made because too little lease was left',
);
const contradictions = counter(
  'payout_contradictions_total',
  'Ends that the acquirer or the ledger contradicted later, by kind',
  [],
);
const problems = counter(
  'payout_look_problems_total',
  'Status checks that showed what cannot be, by problem',
  [],
);

const holdProblems = counter(
  'payout_hold_problems_total',
  'Holds that contradict their intents, by problem',
  [],
);
const intents = counter(
  'payout_intents_settled_total',
  'Intents that their own call had left behind, by how the job ended them',
  [],
);

/** `unknown` and `moved` are checked again. */
export function intentSettled(outcome: 'finished' | 'dropped' | 'moved' | 'unknown'): void {
  intents.add(1, { outcome });
}

const HOLD_PROBLEMS = {
  resource_held: 'payout intent has another hold, open or settled',
  unknown_pix: 'payout hold refused for a Pix',
  ended: 'payout hold ended before its intent was committed',
  orphaned: 'hold stands without its payout',
} as const satisfies Record<HoldProblem, string>;

/** Impossible while every service follows the protocol of holds; reconciliation shows the money. */
export function holdContradicted(logger: Logger, intent: PayoutRow, problem: HoldProblem): void {
  holdProblems.add(1, { problem });
  logger.error({ payout_id: intent.id, hold_id: intent.holdId }, HOLD_PROBLEMS[problem]);
}

export function sendEnded(
  logger: Logger,
  payout: PayoutRow,
  outcome: { kind: SendOutcomeKind; cause?: string },
): void {
  sends.add(1, { outcome: outcome.kind });
  if (outcome.kind !== 'unknown') return;
  logger.warn({ payout_id: payout.id, cause: outcome.cause }, 'payout send outcome unknown');
}

export function sendAbandoned(logger: Logger, payout: PayoutRow): void {
  abandoned.add(1);
  logger.warn({ payout_id: payout.id }, 'payout send not made, its lease was over');
}

/** An operator has to act: money moved against what was announced to the merchant (decision 120). */
export function contradicted(logger: Logger, payout: PayoutRow, kind: Contradiction): void {
  contradictions.add(1, { kind });
  logger.error(
    { payout_id: payout.id, status: payout.status, contradiction: kind },
    'payout contradicted, its amount goes to suspense',
  );
}

export const CHECK_PROBLEMS = {
  vanished: 'payout accepted by the acquirer is unknown there now',
  other_amount: 'payout has another amount at the acquirer',
  never_sent: 'payout never sent is known at the acquirer',
  unfinished: 'payout has ended, the acquirer still processes it',
  return_without_id: 'payout return has no id, not booked',
  return_above_amount: 'payout returns exceed its amount, not booked',
  return_of_contradicted: 'payout is contradicted and has a return, not booked',
} as const;
export type CheckProblem = keyof typeof CHECK_PROBLEMS;

export function checkShowedProblem(logger: Logger, payout: PayoutRow, problem: CheckProblem): void {
  problems.add(1, { problem });
  logger.error({ payout_id: payout.id, status: payout.status }, CHECK_PROBLEMS[problem]);
}

export type Overdue = { unanswered: number; unsent: number; resting: number };

export function payoutsOverdue(logger: Logger, overdue: Overdue): void {
  if (Object.values(overdue).every((count) => count === 0)) return;
  logger.error(overdue, 'payouts overdue at the acquirer');
}

/** Gauges that are read at each scrape. */
export function observeOverdue(read: () => Promise<Overdue>): void {
  observedGauge(
    'payouts_unanswered',
    'Payouts sent more than 15 minutes ago without a definite answer',
    async () => [{ value: (await read()).unanswered }],
  );
  observedGauge(
    'payouts_unsent',
    'Payouts due to be sent for 30 seconds, and those of that age whose calls could not be made',
    async () => [{ value: (await read()).unsent }],
  );
  observedGauge(
    'payouts_resting',
    'Payouts accepted by the acquirer more than 90 minutes ago that have not ended',
    async () => [{ value: (await read()).resting }],
  );
}

/** An older reading says nothing any more; reconciliation reads anew each five minutes. */
const BALANCE_MS_MAX = 15 * 60_000;
let balance: BalanceReading | null = null;

type BalanceReading = { cents: number; readMs: number; readAtSeconds: number };

/** Reconciliation has read the balance at the acquirer; the gauges make no call of their own. */
export function balanceRead(amountCents: bigint): void {
  const readAtSeconds = Date.now() / 1_000;
  balance = { cents: Number(amountCents), readMs: performance.now(), readAtSeconds };
}

function ofBalance(value: (reading: BalanceReading) => number) {
  return async () => {
    const isKnown = balance !== null && performance.now() - balance.readMs < BALANCE_MS_MAX;
    return balance !== null && isKnown ? [{ value: value(balance) }] : [];
  };
}

/** What is due against what the acquirer has of ours; of several processes the one that has read last is right. */
export function observeDue(sumDue: () => Promise<number>): void {
  observedGauge('payouts_due_cents', 'Money of payouts that are due to be sent', async () => [
    { value: await sumDue() },
  ]);
  observedGauge(
    'acquirer_balance_cents',
    'Our balance at the acquirer, as the last reconciliation of this process read it',
    ofBalance(({ cents }) => cents),
  );
  observedGauge(
    'acquirer_balance_read_at_seconds',
    'When this process read the balance at the acquirer, in Unix time',
    ofBalance(({ readAtSeconds }) => readAtSeconds),
  );
}

/** Stops in force, by who has set them. */
export type StopCount = { cause: 'operator' | 'reconciliation'; count: number };

type ReportedStop = {
  id: string;
  accountId: string | null;
  setBy: string;
  reason: string;
  endedBy: string | null;
};

/** Nothing of it leaves until an operator ends it (decision 262). */
export function payoutsStopped(logger: Logger, stop: ReportedStop): void {
  logger.error(describeStop(stop), 'payouts stopped');
}

export function payoutsResumed(logger: Logger, stop: ReportedStop): void {
  logger.warn({ ...describeStop(stop), ended_by: stop.endedBy }, 'payouts resumed');
}

function describeStop({ id, accountId, setBy, reason }: ReportedStop) {
  return { stop_id: id, account_id: accountId, set_by: setBy, reason };
}

export function observeStops(read: () => Promise<StopCount[]>): void {
  observedGauge('payouts_stopped', 'Stops of payouts in force, by who set them', async () =>
    (await read()).map(({ cause, count }) => ({ value: count, attributes: { cause } })),
  );
}
