import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import type { BookedJournal } from '@pixmesh/contracts/internal/ledger-reads';
import type { FoundBreak } from '@pixmesh/reconciliation/check';

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
  if (theirs === null) return ours === null ? [] : [missingLeft(id, ours)];
  if (ours === null) return [missingRight(id, theirs)];
  const breaks: FoundBreak[] = [];
  const changedAt = ours.recordedAt;
  if (theirs.amountCents !== ours.amount) {
    breaks.push({ kind: 'amount', id, changedAt, ...amounts(theirs.amountCents, ours.amount) });
  } else if (journal !== null && journal.amount !== ours.amount) {
    breaks.push({ kind: 'amount', id, changedAt, ...amounts(ours.amount, journal.amount) });
  }
  if (theirs.paidAt.getTime() !== ours.paidAt.getTime()) {
    const [expected, found] = [theirs.paidAt.toISOString(), ours.paidAt.toISOString()];
    breaks.push({ kind: 'date', id, expected, found, changedAt });
  }
  if (journal !== null && isSuspense(journal) !== (ours.disposition === 'suspense')) {
    breaks.push({ kind: 'state', id, expected: ours.disposition, found: journal.kind, changedAt });
  } else if (journal !== null && journal.account_id !== ownerOf(ours)) {
    const [expected, found] = [`account ${ownerOf(ours)}`, `account ${journal.account_id}`];
    breaks.push({ kind: 'state', id, expected, found, amountCents: ours.amount, changedAt });
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

/** A journal whose Pix neither the acquirer nor we know of. */
export function unexplainedJournal(journal: BookedJournal): FoundBreak {
  const { command_id: id, amount: amountCents, created_at } = journal;
  const found = `${journal.kind} for ${journal.resource_id ?? journal.account_id}`;
  return { kind: 'missing_left', id, found, amountCents, changedAt: new Date(created_at) };
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

function missingLeft(id: string, ours: RecordedPix): FoundBreak {
  const found = String(ours.amount);
  return { kind: 'missing_left', id, found, amountCents: ours.amount, changedAt: ours.recordedAt };
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
