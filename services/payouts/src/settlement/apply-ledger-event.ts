import { AppError, assertNever } from '@pixmesh/kernel/app-error';
import type { PayoutId } from '@pixmesh/kernel/ids';
import { decideAnew } from '@pixmesh/postgres/decide-anew';

import { payoutEvents } from '#payouts/payout-events.ts';
import { isVisible, type VisiblePayout } from '#payouts/payout-row.ts';

import { decideLedgerEvent, type HoldEvent } from './decide-ledger-event.ts';
import type { SettlementDeps } from './settlement-deps.ts';
import { suspendContradiction } from './suspend-contradiction.ts';

/**
 * Ends a payout once the ledger has moved its money: the one place where it becomes `completed` or `failed`, so
 * a reader of the event finds the balance right. Repeated, it changes nothing.
 * @throws AppError `MESSAGE_INVALID` for an event that no order of ours leads to
 */
export async function applyLedgerEvent(
  deps: SettlementDeps,
  hold: { payoutId: string; holdId: string },
  event: HoldEvent,
): Promise<void> {
  await decideAnew('the payout', async () => {
    const payout = await deps.moves.find(hold.payoutId as PayoutId);
    // Holds of refunds are others' business.
    if (payout === null) return 'done';
    if (payout.holdId !== hold.holdId || !isVisible(payout)) throw impossible();
    return (await applyOnce(deps, payout, event)) ? 'done' : 'moved';
  });
}

/** False when the payout has moved since it was read. */
async function applyOnce(
  deps: SettlementDeps,
  payout: VisiblePayout,
  event: HoldEvent,
): Promise<boolean> {
  const step = decideLedgerEvent(payout, event);
  switch (step.kind) {
    case 'complete':
      return await end(deps, payout, 'completed');
    case 'fail':
      return await end(deps, payout, 'failed');
    case 'contradict':
      return await suspendContradiction(deps, payout, step.contradiction);
    case 'done':
      return true;
    case 'impossible':
      throw impossible();
    default:
      return assertNever(step);
  }
}

async function end(
  deps: SettlementDeps,
  payout: VisiblePayout,
  status: 'completed' | 'failed',
): Promise<boolean> {
  const failureReason = status === 'failed' ? payout.endingReason : null;
  const after = { ...payout, status, failureReason };
  const moved = await deps.moves.move({
    from: payout,
    status,
    failureReason,
    events: payoutEvents(after, [`payment.pix.${status}`]),
    // Returns that were seen with the settlement may still wait for their check.
    checkInMs: 'kept',
  });
  if (moved) deps.wakeOutbox();
  return moved;
}

function impossible(): AppError {
  return new AppError('MESSAGE_INVALID', {
    message: 'the ledger ended a hold that was not to end',
  });
}
