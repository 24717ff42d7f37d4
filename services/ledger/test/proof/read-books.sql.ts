import { TOPICS } from '@pixmesh/contracts/topics';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

/** A decided command as its rows say. */
export type FoundJournal = {
  commandId: string;
  accountId: string;
  kind: string;
  word: string;
  version: number | null;
  atMs: number;
  entries: readonly { kind: string; amount: number; balanceAfter: number }[];
};

export type FoundAccount = Record<string, number> & { forced: number; version: number };

type JournalRow = Omit<FoundJournal, 'atMs' | 'version' | 'entries'> & {
  version: bigint | null;
  at: Date;
  entries: FoundJournal['entries'] | null;
};

/** What stands of these commands, with what each has moved. */
export async function readJournals(
  db: Queryable,
  commandIds: readonly string[],
): Promise<FoundJournal[]> {
  const rows = await db.query<JournalRow>(sql`
    select
      command_id as "commandId", account_id as "accountId", kind::text, outcome::text as word,
      version, created_at as at,
      (
        select json_agg(
          json_build_object('kind', entries.kind, 'amount', amount, 'balanceAfter', balance_after)
        )
        from entries
        where entries.account_id = journals.account_id and entries.version = journals.version
          and entries.kind = any(enum_range(null::account_kind))
      ) as entries
    from journals
    where command_id = any(${commandIds}::uuid[])`);
  return rows.map(({ at, version, entries, ...row }) => ({
    ...row,
    atMs: at.getTime(),
    version: version === null ? null : Number(version),
    entries: entries ?? [],
  }));
}

/** Everything that stands on the owners' rows, in cents. */
export async function readAccounts(
  db: Queryable,
  accountIds: readonly string[],
): Promise<Map<string, FoundAccount>> {
  const rows = await db.query<Record<string, bigint | string>>(sql`
    select
      account_id, available, pending, held, blocked, suspense, acquirer_clearing, fees,
      acquirer_tariffs, forced_debit as forced, version
    from accounts
    where account_id = any(${accountIds}::uuid[])`);
  return new Map(
    rows.map(({ account_id: accountId, ...numbers }) => [
      String(accountId),
      Object.fromEntries(
        Object.entries(numbers).map(([name, value]) => [name, Number(value)]),
      ) as FoundAccount,
    ]),
  );
}

export type FoundHold = { holdId: string; accountId: string; state: string; amount: number };

export async function readHolds(db: Queryable, holdIds: readonly string[]): Promise<FoundHold[]> {
  const rows = await db.query<FoundHold & { amount: bigint }>(sql`
    select hold_id as "holdId", account_id as "accountId", state::text, amount
    from holds
    where hold_id = any(${holdIds}::uuid[])`);
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}

/** What stands of refunded, disputed and returned Pix, in the words and order of the oracle. */
export async function readPix(db: Queryable, accountIds: readonly string[]) {
  const rows = await db.query<
    Record<string, bigint> & { name: string; dispute: string | null }
  >(sql`
    select
      end_to_end_id as name, received, refunding, refunded, returned, blocked, shortfall,
      dispute_id as dispute, disputed
    from pix_debits
    where account_id = any(${accountIds}::uuid[])`);
  return rows.map((row) => ({
    name: row.name,
    received: Number(row['received']),
    refunding: Number(row['refunding']),
    refunded: Number(row['refunded']),
    returned: Number(row['returned']),
    blocked: Number(row['blocked']),
    short: Number(row['shortfall']),
    dispute: row.dispute,
    disputed: Number(row['disputed']),
  }));
}

export async function readItems(db: Queryable, accountIds: readonly string[]) {
  const rows = await db.query<{ itemId: string; amount: bigint; isOpen: boolean }>(sql`
    select id as "itemId", amount, resolved_at is null as "isOpen"
    from suspense_items
    where account_id = any(${accountIds}::uuid[])`);
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}

/** Credits that wait in `pending`, the due ones as the ledger's own job would find them. */
export async function readReleases(
  db: Queryable,
  accountIds: readonly string[],
): Promise<{ creditId: string; accountId: string; amount: number; isDue: boolean }[]> {
  const rows = await db.query<{
    creditId: string;
    accountId: string;
    amount: bigint;
    isDue: boolean;
  }>(sql`
    select
      command_id as "creditId", account_id as "accountId", amount,
      release_at <= clock_timestamp() as "isDue"
    from releases
    where account_id = any(${accountIds}::uuid[])`);
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}

export type FoundEvent = {
  commandId: string;
  accountId: string;
  available: number;
  pending: number;
};

/** Outcomes in the order in which they will be published. */
export async function readOutcomes(
  db: Queryable,
  accountIds: readonly string[],
): Promise<FoundEvent[]> {
  return await db.query<FoundEvent>(sql`
    select
      message -> 'data' ->> 'command_id' as "commandId",
      key as "accountId",
      (message -> 'data' -> 'balance' ->> 'available')::float8 as available,
      (message -> 'data' -> 'balance' ->> 'pending')::float8 as pending
    from outbox join events using (event_id)
    where topic = ${TOPICS.ledgerEvents} and key = any(${accountIds}::text[])
    order by outbox.id`);
}
