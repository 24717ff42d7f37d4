import { assertNever } from '@pixmesh/kernel/app-error';

import type { Contradiction } from '#payouts/ledger-commands.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';

/** What the ledger's event means for the hold of a payout. */
export type HoldEvent =
  | { kind: 'settled' }
  | { kind: 'released' }
  /** The hold had ended otherwise before the command; nothing moved. */
  | {
      kind: 'end_refused';
      wanted: 'settled' | 'released';
      state: 'settled' | 'released' | 'voided';
    };

/** `done`: applied before. `impossible`: no order of ours leads there. */
export type LedgerStep =
  | { kind: 'complete' }
  | { kind: 'fail' }
  | { kind: 'contradict'; contradiction: Contradiction }
  | { kind: 'done' }
  | { kind: 'impossible' };

/**
 * What follows from an event of the ledger. Only the end that was ordered ends a payout, and a canceled one has
 * ended before its release (decision 124).
 */
export function decideLedgerEvent(payout: PayoutRow, event: HoldEvent): LedgerStep {
  switch (event.kind) {
    case 'settled':
      if (payout.status === 'completed') return { kind: 'done' };
      return payout.ending === 'settle' ? { kind: 'complete' } : { kind: 'impossible' };
    case 'released':
      return decideReleased(payout);
    case 'end_refused':
      return decideRefused(payout, event);
    default:
      return assertNever(event);
  }
}

function decideReleased(payout: PayoutRow): LedgerStep {
  if (payout.status === 'failed' || payout.status === 'canceled') return { kind: 'done' };
  return payout.ending === 'release' ? { kind: 'fail' } : { kind: 'impossible' };
}

/** The ledger knows another end of the hold than we ordered: money and status must not part silently. */
function decideRefused(
  payout: PayoutRow,
  event: Extract<HoldEvent, { kind: 'end_refused' }>,
): LedgerStep {
  // Nothing is held any more, which is all that a release wants.
  if (event.wanted === 'released' && event.state !== 'settled') return decideReleased(payout);
  if (payout.contradiction !== null) return { kind: 'done' };
  const contradiction =
    event.wanted === 'settled' ? 'completed_after_failed' : 'failed_after_completed';
  return { kind: 'contradict', contradiction };
}
