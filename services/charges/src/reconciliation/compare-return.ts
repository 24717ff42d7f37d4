import type { PixReturn, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import {
  receivedPixCommandId,
  suspenseResolveCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { assertNever } from '@pixmesh/kernel/app-error';
import type { FoundBreak } from '@pixmesh/reconciliation/check';

import type { SeenReturn } from '#returns/pix-returns.sql.ts';
import { disputeReturnCommandId, receivedPixReturnCommandId } from '#returns/return-commands.ts';
import { returnKey } from '#returns/return-key.ts';
import { suspensePartCommandId } from '#suspense/suspense-commands.ts';

/** One return as the acquirer and we have it. */
export type ComparedReturn = {
  endToEndId: string;
  returnId: string;
  theirs: PixReturn | null;
  ours: SeenReturn | null;
};

/** A break of a return is named by its Pix and its own id; the Pix is what is asked for again. */
export function pixOf(id: string): string {
  return id.split('/')[0] ?? id;
}

/** Returns that have been carried out, on either side. */
export function pairReturns(
  pairs: readonly { endToEndId: string; theirs: ReceivedPix | null }[],
  recorded: readonly SeenReturn[],
): ComparedReturn[] {
  const byKey = new Map<string, ComparedReturn>();
  for (const { endToEndId, theirs } of pairs) {
    for (const item of theirs?.returns ?? []) {
      if (item.status !== 'returned') continue;
      const one = { endToEndId, returnId: item.id, theirs: item, ours: null };
      byKey.set(returnKey(endToEndId, item.id), one);
    }
  }
  for (const ours of recorded) {
    const { endToEndId, returnId } = ours;
    const key = returnKey(endToEndId, returnId);
    const theirs = byKey.get(key)?.theirs ?? null;
    byKey.set(key, { endToEndId, returnId, theirs, ours });
  }
  return [...byKey.values()];
}

/**
 * The command that books a return; null for a refund, whose hold is another check's, and for one that is not booked.
 */
export function bookingOf({ endToEndId, returnId, disposition }: SeenReturn): string | null {
  switch (disposition) {
    case 'returned':
      return receivedPixReturnCommandId(endToEndId, returnId);
    case 'med':
      return disputeReturnCommandId(endToEndId, returnId);
    case 'suspense':
      return suspenseResolveCommandId(receivedPixCommandId(endToEndId));
    case 'suspense_part':
      return suspensePartCommandId(endToEndId, returnId);
    case 'refund':
    case 'unbooked':
      return null;
    default:
      return assertNever(disposition);
  }
}

/** The differences of one return. */
export function compareReturn(
  { endToEndId, returnId, theirs, ours }: ComparedReturn,
  journals: ReadonlyMap<string, BookedJournal>,
): FoundBreak[] {
  const id = returnKey(endToEndId, returnId);
  if (ours === null) {
    const amountCents = theirs?.amountCents ?? null;
    const changedAt = theirs?.settledAt ?? null;
    return [{ kind: 'missing_right', id, expected: String(amountCents), amountCents, changedAt }];
  }
  const { amount: amountCents, disposition } = ours;
  if (theirs === null) {
    const found = String(amountCents);
    return [{ kind: 'missing_left', id, found, amountCents, changedAt: ours.seenAt }];
  }
  const changedAt = ours.seenAt;
  if (theirs.amountCents !== amountCents) {
    const [expected, found] = [String(theirs.amountCents), String(amountCents)];
    const difference = amountCents - theirs.amountCents;
    return [{ kind: 'amount', id, expected, found, amountCents: difference, changedAt }];
  }
  if (disposition === 'refund') return [];
  const booking = bookingOf(ours);
  const journal = booking === null ? null : (journals.get(booking) ?? null);
  if (journal === null) {
    return [{ kind: 'unbooked', id, expected: disposition, amountCents, changedAt }];
  }
  if (journal.amount === amountCents) return [];
  const [expected, found] = [String(amountCents), String(journal.amount)];
  return [
    { kind: 'amount', id, expected, found, amountCents: journal.amount - amountCents, changedAt },
  ];
}
