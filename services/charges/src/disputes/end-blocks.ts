import { findAnyCharge } from '#charge/charges.sql.ts';

import { applyChange } from './apply-change.ts';
import type { ApplyDeps } from './apply-infraction.ts';
import type { DisputeRow } from './dispute-row.ts';
import { findDispute, findStandingBlocks } from './disputes.sql.ts';

/**
 * Blocks compared in one turn, at random. Few, because the acquirer is asked for one after the other, and no page of the
 * list is read before.
 */
const BLOCKS_MAX = 10;
/** A block that stays although the acquirer has had its time is logged for so long; then reconciliation shows it. */
export const KEPT_BLOCK_LOGGED_MS = 60 * 60 * 1000;

/**
 * Unblocks what the acquirer did not return of lost disputes (decision 138): as soon as any of it has returned, or
 * once the acquirer has had its time. A return that comes later still is taken from the balance. Where the acquirer
 * does not answer what has returned, or shows a return under way, the block stays: a return that is not known yet has to
 * find its money. Each block may take as long as a page of the list, so the lease is renewed before it; false for a
 * process that has lost it.
 */
export async function endBlocks(
  deps: ApplyDeps,
  renewLease: () => Promise<boolean>,
): Promise<boolean> {
  for (const dispute of await findStandingBlocks(deps.db, BLOCKS_MAX)) {
    if (!(await renewLease())) return false;
    await endBlock(deps, dispute).catch((error: unknown) => {
      deps.logger.error({ err: error, dispute_id: dispute.id }, 'block not ended');
    });
  }
  return true;
}

async function endBlock(deps: ApplyDeps, seen: DisputeRow): Promise<void> {
  const before = await findAnyCharge(deps.db, seen.chargeId);
  if (before === null) return;
  if (!(await deps.checkReturns(before, seen.endToEndId))) return logKept(deps, seen);
  const charge = await findAnyCharge(deps.db, seen.chargeId);
  const dispute = await findDispute(deps.db, seen.id);
  if (charge === null || dispute?.block !== 'standing' || !mayEnd(dispute, deps.returnWindowMs)) {
    return;
  }
  // Where one of the two has moved meanwhile, the next turn decides anew.
  await applyChange(
    deps,
    { dispute, charge, isNew: false },
    {
      kind: 'change',
      status: dispute.status,
      arrivedResolved: dispute.arrivedResolved,
      cause: 'block_ended',
      chargeStatus: charge.status,
      chargeEvent: null,
      disputeEvent: null,
      block: 'end',
    },
  );
}

function logKept({ logger, returnWindowMs }: ApplyDeps, dispute: DisputeRow): void {
  if (!isOverFor(dispute, returnWindowMs)) return;
  if (isOverFor(dispute, returnWindowMs + KEPT_BLOCK_LOGGED_MS)) return;
  logger.warn({ dispute_id: dispute.id }, 'block of a lost dispute kept: returns unknown');
}

function mayEnd(dispute: DisputeRow, windowMs: number): boolean {
  return dispute.returnedAmount > 0n || isOverFor(dispute, windowMs);
}

/** Whether it was lost so long ago. */
function isOverFor({ resolvedAt, readAt }: DisputeRow, ms: number): boolean {
  return resolvedAt !== null && readAt.getTime() - resolvedAt.getTime() >= ms;
}
