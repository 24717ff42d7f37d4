import type { AccountSettings } from '@pixmesh/contracts/internal/caller-claims';
import type { OperatorId } from '@pixmesh/kernel/ids';

import { arePayoutsEnabled } from '#creation/payouts-enabled.ts';
import type { VisiblePayout } from '#payouts/payout-row.ts';

/** `done`: an earlier call has brought about what is wanted; it is answered with the resource as it is now. */
export type QueueDecision =
  | { kind: 'act' }
  | { kind: 'done' }
  | { kind: 'refuse'; code: 'PAYOUT_NOT_PENDING' | 'APPROVER_MUST_DIFFER' | 'PAYOUTS_DISABLED' };

/**
 * Whether an operator may approve: the payout waits in the queue, another one requested it, and the account may
 * still pay out. A payout of the API was requested by its application, so any operator may (decision 123).
 */
export function decideApproval(
  payout: VisiblePayout,
  operatorId: OperatorId,
  settings: AccountSettings,
): QueueDecision {
  if (payout.approvedBy !== null) return { kind: 'done' };
  if (payout.status !== 'pending') return { kind: 'refuse', code: 'PAYOUT_NOT_PENDING' };
  if (payout.requestedBy === operatorId) return { kind: 'refuse', code: 'APPROVER_MUST_DIFFER' };
  if (!arePayoutsEnabled(settings)) return { kind: 'refuse', code: 'PAYOUTS_DISABLED' };
  return { kind: 'act' };
}

/** Only what waits in the queue is canceled; the acquirer cannot recall what was sent (decision 124). */
export function decideCancellation(payout: VisiblePayout): QueueDecision {
  if (payout.status === 'canceled') return { kind: 'done' };
  if (payout.status !== 'pending') return { kind: 'refuse', code: 'PAYOUT_NOT_PENDING' };
  return { kind: 'act' };
}
