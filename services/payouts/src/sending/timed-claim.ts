import type { AccountId } from '@pixmesh/kernel/ids';

import type { Claim } from './claim-due.sql.ts';
import type { HeldSlot } from './held-slots.ts';

/** How late after its claim a call may begin. */
export const START_MARGIN_MS = 2_000;

/** A claim, until when its call may begin, and the slot that it has. */
export type TimedClaim = Claim & HeldSlot & { callBeforeMs: number; accountId: AccountId };

/** A call begins soon after it was counted, and ends within the lease of its slot. */
export function timed(
  claim: Claim & HeldSlot,
  countedMs: number,
  callTimeoutMs: number,
): TimedClaim {
  const callBeforeMs = Math.min(countedMs + START_MARGIN_MS, claim.untilMs - callTimeoutMs);
  return { ...claim, callBeforeMs, accountId: claim.payout.accountId };
}
