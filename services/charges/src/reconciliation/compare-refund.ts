import type { PixReturn } from '@pixmesh/acquirer/acquirer';
import type { HoldItem } from '@pixmesh/contracts/internal/holds';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { type FoundBreak, NEVER_IN_FLIGHT } from '@pixmesh/reconciliation/check';

import type { ComparedRefund, ContradictedRefund, CountedRefunds } from './refund-check.sql.ts';

/** What a refund is, once the acquirer has carried its return out or not. */
const EXPECTED = { processing: 'processing', returned: 'completed', failed: 'failed' } as const;

/**
 * The differences of one refund. Left: the acquirer's return under its id; right: our refund. One that failed and was
 * carried out all the same stays a break although its money is booked: an operator has to act (decision 120).
 */
export function compareRefund(ours: ComparedRefund, theirs: PixReturn | null): FoundBreak[] {
  const { id, status, amount, endedAt } = ours;
  if (theirs === null) {
    // A refund may not have been ordered yet, and one that was refused never stood there.
    if (status !== 'completed') return [];
    return [{ kind: 'missing_left', id, found: status, amountCents: amount, changedAt: endedAt }];
  }
  if (theirs.amountCents !== amount) {
    const [expected, found] = [String(theirs.amountCents), String(amount)];
    const amountCents = amount - theirs.amountCents;
    return [{ kind: 'amount', id, expected, found, amountCents, changedAt: NEVER_IN_FLIGHT }];
  }
  const expected = EXPECTED[theirs.status];
  if (status === expected) return [];
  const changedAt = theirs.settledAt;
  return [{ kind: 'state', id, expected, found: status, amountCents: amount, changedAt }];
}

/** The hold of a completed refund was settled, in full. */
export function compareSettled(ours: ComparedRefund, journal: BookedJournal | null): FoundBreak[] {
  const { id, amount, endedAt: changedAt } = ours;
  if (ours.status !== 'completed') return [];
  if (journal === null) {
    return [{ kind: 'unbooked', id, expected: 'settled', amountCents: amount, changedAt }];
  }
  if (journal.amount === amount) return [];
  const [expected, found] = [String(amount), String(journal.amount)];
  const amountCents = journal.amount - amount;
  return [{ kind: 'amount', id, expected, found, amountCents, changedAt }];
}

/** The differences of one open hold; an intent that keeps its hold for longer than the window is one. */
export function compareHold(hold: HoldItem, refund: ComparedRefund | null): FoundBreak[] {
  const { amount } = hold;
  if (refund === null) {
    const [expected, found] = ['processing', hold.resource_id];
    return [{ kind: 'missing_right', id: hold.hold_id, expected, found, amountCents: amount }];
  }
  const { id, status } = refund;
  if (status !== 'processing') {
    return [{ kind: 'state', id, expected: 'processing', found: status, amountCents: amount }];
  }
  if (amount === refund.amount) return [];
  const [expected, found] = [String(refund.amount), String(amount)];
  return [{ kind: 'amount', id, expected, found, amountCents: amount - refund.amount }];
}

/** A refund under way has its money reserved. */
export function missingHold({ id, status, amount }: ComparedRefund): FoundBreak {
  const expected = 'an open hold';
  return { kind: 'missing_left', id, expected, found: status, amountCents: amount };
}

/** The hold of a refund ended otherwise than the refund: whose money it is has to be put right by an operator. */
export function contradictedHold(refund: ContradictedRefund): FoundBreak {
  const { id, status, holdState: found, amount: amountCents, endedAt: changedAt } = refund;
  const expected = `hold ${status === 'completed' ? 'settled' : 'released'}`;
  return { kind: 'state', id, expected, found: `hold ${found}`, amountCents, changedAt };
}

/** What a charge shows as refunded is what went back. */
export function miscounted({ id, counted, recorded, seenAt }: CountedRefunds): FoundBreak {
  const [expected, found] = [String(recorded), String(counted)];
  return { kind: 'sum', id, expected, found, amountCents: counted - recorded, changedAt: seenAt };
}
