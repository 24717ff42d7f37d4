import type { AcquirerPayout } from '@pixmesh/acquirer/acquirer';
import { cutFailureReason } from '@pixmesh/kernel/text';

import { failpoint } from '#failpoints.ts';
import { holdRelease, holdSettle } from '#payouts/ledger-commands.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';

import { acceptance } from './accept-payout.ts';
import type { SettlementDeps } from './settlement-deps.ts';

/** How a payout ends: its money has left, or it returns to its owner because of `reason`. */
export type End =
  | { kind: 'settle'; sent: AcquirerPayout }
  | { kind: 'release'; reason: string; sent: AcquirerPayout | null };

/**
 * Orders the end of a payout from the ledger, in the commit that records it: one end per payout, for ever,
 * since a second writer finds the row moved. The status follows the ledger's event (decisions 119, 127).
 * False when the payout has moved since it was read; nothing is written then.
 */
export async function orderEnd(
  deps: SettlementDeps,
  payout: PayoutRow,
  end: End,
): Promise<boolean> {
  const accepted = end.sent ? acceptance(payout, end.sent) : { events: [] };
  const reason = end.kind === 'release' ? cutFailureReason(end.reason) : null;
  const moved = await deps.moves.move({
    from: payout,
    ...accepted,
    status: 'processing',
    ending: { kind: end.kind, reason },
    events: [...accepted.events, command(payout, end)],
    // Returns are booked by a check of their own, once the settlement is ordered.
    checkInMs: end.sent !== null && end.sent.returns.length > 0 ? 0 : null,
  });
  if (!moved) return false;
  deps.wakeOutbox();
  await failpoint('payouts.settle.after-commit');
  return true;
}

function command(payout: PayoutRow, end: End) {
  return end.kind === 'settle' ? holdSettle(payout, end.sent.endToEndId) : holdRelease(payout);
}
