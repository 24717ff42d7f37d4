import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { foundOrNull } from '@pixmesh/acquirer/found-or-null';
import type { AccountSettings } from '@pixmesh/contracts/internal/caller-claims';
import type { Deadline } from '@pixmesh/http/deadline';
import { AppError } from '@pixmesh/kernel/app-error';
import { type OperatorId, type PayoutId, toAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import { holdRelease } from '#payouts/ledger-commands.ts';
import { movePayout } from '#payouts/move-payouts.sql.ts';
import { payoutEvents } from '#payouts/payout-events.ts';
import type { VisiblePayout } from '#payouts/payout-row.ts';

import { decideApproval, decideCancellation, type QueueDecision } from './decide-in-queue.ts';
import { findVisible } from './find-operator-payout.ts';

/** A payout leaves the queue once; a second read always finds how. */
const READS_MAX = 3;

export type QueueDeps = {
  db: Database;
  acquirer: Pick<Acquirer, 'getPayout'>;
  wakeOutbox(): void;
  wakeSender(): void;
};

/**
 * Approves a payout of the queue: from here it is processing and a sender takes it up. Nothing is announced yet;
 * `payment.pix.processing` follows when the acquirer has accepted (decision 127). While payouts are stopped it is not
 * sent either: the stop ends by an act of its own, and an approval decides about one payout only (ADR 0031).
 * @throws AppError `PAYOUT_NOT_FOUND`, `PAYOUT_NOT_PENDING`, `APPROVER_MUST_DIFFER`, `PAYOUTS_DISABLED`
 */
export async function approvePayout(
  deps: QueueDeps,
  id: PayoutId,
  approval: { operatorId: OperatorId; settings: AccountSettings },
): Promise<ActedOn> {
  const { operatorId, settings } = approval;
  const approved = await actOnce(deps, id, {
    decide: (payout) => decideApproval(payout, operatorId, settings),
    act: async (payout) =>
      await movePayout(deps.db, {
        from: payout,
        status: 'processing',
        // The send continues the trace of the approval.
        approval: { approvedBy: operatorId, traceparent: currentTraceParent() },
        events: [],
        checkInMs: null,
      }),
  });
  deps.wakeSender();
  return approved;
}

/**
 * Cancels a payout of the queue. The status, its event and the order to give the money back are one commit; the
 * balance follows (decision 124).
 * @throws AppError `PAYOUT_NOT_FOUND`, `PAYOUT_NOT_PENDING`; `CONFLICT`, `DEPENDENCY_UNAVAILABLE` as `requireUnordered`
 */
export async function cancelPayout(
  deps: QueueDeps,
  id: PayoutId,
  deadline: Deadline,
): Promise<ActedOn> {
  const canceled = await actOnce(deps, id, {
    decide: decideCancellation,
    act: async (payout) => {
      await requireUnordered(deps, payout, deadline);
      return await movePayout(deps.db, {
        from: payout,
        status: 'canceled',
        events: [
          ...payoutEvents({ ...payout, status: 'canceled' }, ['payment.pix.canceled']),
          holdRelease(payout),
        ],
        checkInMs: null,
      });
    },
  });
  deps.wakeOutbox();
  return canceled;
}

/**
 * A database that was restored to a moment may have lost that a payout was approved and sent since: its money is not
 * released while the acquirer has an order of it that it did not reject.
 * @throws AppError `CONFLICT` where it has one, `DEPENDENCY_UNAVAILABLE` where it does not answer
 */
async function requireUnordered(
  { acquirer }: QueueDeps,
  { id, accountId }: VisiblePayout,
  deadline: Deadline,
): Promise<void> {
  const signal = deadline.signal();
  const order = foundOrNull(await acquirer.getPayout(toAcquirerId(id), { accountId, signal }));
  if (order === null || order.status === 'rejected') return;
  const publicMessage = 'The acquirer has an order of this payout: approve it, then check it.';
  throw new AppError('CONFLICT', { details: ['status'], publicMessage });
}

/** `repeated`: an earlier or faster call had done it, and this one changed nothing. */
export type ActedOn = { payout: VisiblePayout; repeated: boolean };

type QueueSteps = {
  decide(payout: VisiblePayout): QueueDecision;
  /** False when the payout has moved since it was read. */
  act(payout: VisiblePayout): Promise<boolean>;
};

/** Reads, decides, moves by compare-and-set; the loser of a race decides again by what it sees then. */
async function actOnce(deps: QueueDeps, id: PayoutId, steps: QueueSteps): Promise<ActedOn> {
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const payout = await findVisible(deps.db, id);
    const decision = steps.decide(payout);
    if (decision.kind === 'done') return { payout, repeated: true };
    if (decision.kind === 'refuse') throw new AppError(decision.code);
    if (await steps.act(payout)) {
      return { payout: await findVisible(deps.db, id), repeated: false };
    }
  }
  throw new AppError('INTERNAL_ERROR', { message: 'the queued payout kept changing' });
}
