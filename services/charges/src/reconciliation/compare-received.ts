import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import { type FoundBreak, NEVER_IN_FLIGHT } from '@pixmesh/reconciliation/check';

import { PLATFORM_ACCOUNT_ID } from '#charge/ledger-command.ts';

import type { RecordedPix } from './received-check.sql.ts';

/** What is known of one Pix on the three sides; its end-to-end id is the key. */
export type Compared = {
  endToEndId: string;
  theirs: ReceivedPix | null;
  ours: RecordedPix | null;
  journal: BookedJournal | null;
};

/** The differences of one Pix; none when all sides agree, or none has it. */
export function compareReceived({ endToEndId: id, theirs, ours, journal }: Compared): FoundBreak[] {
  if (theirs === null) return ours === null ? [] : [missingLeft(ours, journal)];
  if (ours === null) return [missingRight(id, theirs)];
  const breaks: FoundBreak[] = [];
  const changedAt = ours.recordedAt;
  // Only what was credited can be paid out.
  const accountId = ours.disposition === 'credit' ? ours.accountId : null;
  if (theirs.amountCents !== ours.amount) {
    const off = amounts(theirs.amountCents, ours.amount);
    breaks.push({ kind: 'amount', id, accountId, changedAt, ...off });
  } else if (journal !== null && journal.amount !== ours.amount) {
    const off = amounts(ours.amount, journal.amount);
    breaks.push({ kind: 'amount', id, accountId, changedAt, ...off });
  }
  if (theirs.paidAt.getTime() !== ours.paidAt.getTime()) {
    const [expected, found] = [theirs.paidAt.toISOString(), ours.paidAt.toISOString()];
    breaks.push({ kind: 'date', id, expected, found, changedAt });
  }
  if (journal !== null && isSuspense(journal) !== (ours.disposition === 'suspense')) {
    const [expected, found] = [ours.disposition, journal.kind];
    breaks.push({ kind: 'state', id, accountId: creditedBy(journal), expected, found, changedAt });
  } else if (journal !== null && journal.account_id !== ownerOf(ours)) {
    const [expected, found] = [`account ${ownerOf(ours)}`, `account ${journal.account_id}`];
    const amountCents = ours.amount;
    const to = creditedBy(journal);
    breaks.push({ kind: 'state', id, accountId: to, expected, found, amountCents, changedAt });
  }
  if (journal === null) {
    breaks.push({
      kind: 'unbooked',
      id,
      expected: ours.disposition,
      amountCents: ours.amount,
      changedAt,
    });
  }
  return breaks;
}

/**
 * A journal whose Pix neither the acquirer nor we know of. Charges has recorded a Pix before it orders the journal, so
 * it is never on its way. Suspense that was invented counts too: who could invent it could have it accepted.
 */
export function unexplainedJournal(journal: BookedJournal): FoundBreak {
  const { command_id: id, amount: amountCents } = journal;
  const found = `${journal.kind} for ${journal.resource_id ?? journal.account_id}`;
  const { account_id: owner } = journal;
  const accountId = owner === PLATFORM_ACCOUNT_ID ? null : owner;
  return { kind: 'missing_left', id, accountId, found, amountCents, changedAt: NEVER_IN_FLIGHT };
}

/** A credit of suspense that an operator decided, of money that still stands in the platform's suspense. */
export function unbookedHandOver(journal: BookedJournal): FoundBreak {
  const { command_id: id, amount: amountCents, created_at } = journal;
  const changedAt = new Date(created_at);
  return { kind: 'unbooked', id, expected: 'hand_over', amountCents, changedAt };
}

/** Whether a journal books what we recorded. */
export function isBookedAsRecorded(journal: BookedJournal, ours: RecordedPix): boolean {
  const [isSuspended, isSuspenseHere] = [isSuspense(journal), ours.disposition === 'suspense'];
  return (
    journal.amount === ours.amount &&
    journal.account_id === ownerOf(ours) &&
    isSuspended === isSuspenseHere
  );
}

/** Credit and suspense of one Pix share their command id: the ledger has booked one of them. */
function isSuspense(journal: BookedJournal): boolean {
  return journal.kind.includes('suspend');
}

/** The account that a journal has given the money to; null for money in suspense. */
function creditedBy(journal: BookedJournal): string | null {
  return isSuspense(journal) ? null : journal.account_id;
}

/** A journal says who has the money, whatever our record says: our own record can be false too. */
function missingLeft(ours: RecordedPix, journal: BookedJournal | null): FoundBreak {
  const { endToEndId: id, recordedAt: changedAt } = ours;
  const amountCents = journal?.amount ?? ours.amount;
  const recorded = ours.disposition === 'credit' ? ours.accountId : null;
  const accountId = (journal && creditedBy(journal)) ?? recorded;
  return {
    kind: 'missing_left',
    id,
    accountId,
    found: String(amountCents),
    amountCents,
    changedAt,
  };
}

function missingRight(id: string, theirs: ReceivedPix): FoundBreak {
  const { amountCents, paidAt: changedAt } = theirs;
  return { kind: 'missing_right', id, expected: String(amountCents), amountCents, changedAt };
}

function amounts(expected: bigint, found: bigint) {
  return { expected: String(expected), found: String(found), amountCents: found - expected };
}

/** Money without an owner is the platform's (decision 217). */
function ownerOf({ accountId }: RecordedPix): string {
  return accountId ?? PLATFORM_ACCOUNT_ID;
}
