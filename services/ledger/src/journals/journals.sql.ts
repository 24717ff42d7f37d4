import type { AccountId, ChargeId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';
import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { Posting } from './templates.ts';

/** What a command led to, as it is stored with its journal and answered to every repeat. */
export type Outcome = {
  event_id: string;
  type: string;
  /** Cents, right after the journal. */
  balance: { available: number; pending: number };
};

export type NewJournal = {
  id: string;
  commandId: string;
  fingerprint: Buffer;
  kind: string;
  accountId: AccountId;
  /** The charge the money is about. */
  resourceId: ChargeId | null;
  postings: readonly Posting[];
  outcome: Outcome;
  event: OutboundEvent;
  /** Money that waits for an operator. */
  suspense: { endToEndId: string; amount: Cents; reason: string } | null;
  /** Money that waits for its time. */
  release: { amount: Cents; at: Date } | null;
};

/**
 * Writes a journal with everything that belongs to it, in one statement: balances, entries, the suspense item
 * or the release, the outcome's event and its place in the queue. False, and nothing is written, when the
 * command has a journal already: `journals_command` decides, whatever was read before.
 *
 * The accounts must be locked. Entries are taken from the rows as updated, so what an entry says of its balance
 * is what the account holds; a posting without its row would leave the journal unbalanced, which is refused.
 */
export async function insertJournal(tx: Transaction, journal: NewJournal): Promise<boolean> {
  const { postings, suspense, release } = journal;
  const rows = await tx.query(
    named(
      'journal_insert',
      sql`
        with journal as (
          insert into journals (id, command_id, fingerprint, kind, account_id, resource_id, outcome)
          values (
            ${journal.id}, ${journal.commandId}, ${journal.fingerprint}, ${journal.kind},
            ${journal.accountId}, ${journal.resourceId}, ${JSON.stringify(journal.outcome)}
          )
          on conflict on constraint journals_command do nothing
          returning id, account_id, resource_id
        ),
        moved as (
          update accounts
          set balance = accounts.balance + posting.amount, version = accounts.version + 1
          from unnest(
            ${postings.map((posting) => posting.accountId)}::uuid[],
            ${postings.map((posting) => posting.kind)}::account_kind[],
            ${postings.map((posting) => posting.amount)}::bigint[]
          ) as posting (account_id, kind, amount)
          where accounts.account_id = posting.account_id
            and accounts.kind = posting.kind
            and exists (select from journal)
          returning accounts.account_id, accounts.kind, posting.amount, accounts.balance, accounts.version
        ),
        written as (
          insert into entries (journal_id, account_id, kind, amount, balance_after, version)
          select journal.id, moved.* from journal, moved
        ),
        suspended as (
          insert into suspense_items (id, account_id, end_to_end_id, charge_id, amount, reason)
          select id, account_id, ${suspense?.endToEndId}, resource_id, ${suspense?.amount}::bigint, ${suspense?.reason}
          from journal
          where ${suspense !== null}::boolean
        ),
        delayed as (
          insert into releases (journal_id, account_id, amount, release_at)
          select id, account_id, ${release?.amount}::bigint, ${release?.at}::timestamptz
          from journal
          where ${release !== null}::boolean
        ),
        ${appendEvents(sql`select from journal`, [journal.event])}
        select id from journal`,
    ),
  );
  return rows.length === 1;
}

export type BookedCommand = {
  journalId: string;
  kind: string;
  fingerprint: Buffer;
  outcome: Outcome;
};

/** The journal of a command, if it has one. Reads `journals_command`. */
export async function findByCommand(
  db: Queryable,
  commandId: string,
): Promise<BookedCommand | null> {
  const rows = await db.query<BookedCommand>(
    named(
      'journal_find_by_command',
      sql`
        select id as "journalId", kind, fingerprint, outcome
        from journals
        where command_id = ${commandId}`,
    ),
  );
  return rows[0] ?? null;
}
