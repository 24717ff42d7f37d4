import assert from 'node:assert';

import { failpoint } from '@pixmesh/http/failpoints';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';

import { lockAccounts } from '#accounts/accounts.sql.ts';
import { commandRefused, commandRepeated, journalPosted } from '#events.ts';
import { findByCommand, insertJournal, type Outcome } from '#journals/journals.sql.ts';

import { accountsOf, decideJournal } from './decide-journal.ts';
import { fingerprintOf, type ReceivedPixCommand } from './received-pix-command.ts';

export type BookReceivedPixDeps = { db: Database; kickOutbox(): void };

export type Booking = { kind: 'posted' | 'repeated'; journalId: string; outcome: Outcome };

/**
 * Books a received Pix, exactly once per command id, for ever: as its credit or in suspense, whichever came
 * first. A repeat changes and publishes nothing and is answered the first outcome, so it is safe to handle a
 * message again after a crash anywhere. Under the locks of the owner's accounts the balances cannot move
 * between the decision and the statement that writes journal, entries, balances and event together.
 *
 * @throws AppError `MESSAGE_INVALID` when the id was booked with other content, to be parked
 */
export async function bookReceivedPix(
  deps: BookReceivedPixDeps,
  command: ReceivedPixCommand,
): Promise<Booking> {
  const posted = await deps.db.transaction(async (tx) => {
    const accounts = await lockAccounts(tx, command.accountId, accountsOf(command));
    const journal = decideJournal(command, accounts);
    return (await insertJournal(tx, journal)) ? journal : null;
  });
  if (posted === null) return await answerFirstOutcome(deps, command);
  await failpoint('ledger.command.after-commit');
  deps.kickOutbox();
  journalPosted(posted.kind);
  return { kind: 'posted', journalId: posted.id, outcome: posted.outcome };
}

async function answerFirstOutcome(
  deps: BookReceivedPixDeps,
  command: ReceivedPixCommand,
): Promise<Booking> {
  const first = await findByCommand(deps.db, command.commandId);
  assert(first, 'only a journal of the same command keeps another one out');
  if (!first.fingerprint.equals(fingerprintOf(command))) {
    commandRefused();
    throw new AppError('MESSAGE_INVALID', {
      message: `command ${command.commandId} is booked as ${first.kind} with other content`,
    });
  }
  commandRepeated();
  return { kind: 'repeated', journalId: first.journalId, outcome: first.outcome };
}
