import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import { ACCOUNT_KINDS, type AccountKind } from '#accounts/chart-of-accounts.ts';

/** Rows (account, kind, balance) of all owners, one for each part. */
const PARTS = sql`
  select account_id, version, part.kind::account_kind as kind, part.balance
  from accounts
  cross join lateral (
    values
      ('available', available), ('pending', pending), ('held', held), ('blocked', blocked),
      ('suspense', suspense), ('acquirer_clearing', acquirer_clearing), ('fees', fees),
      ('acquirer_tariffs', acquirer_tariffs)
  ) as part (kind, balance)`;

/**
 * What is wrong with the books, derived from the entries alone: every journal and the whole ledger net to zero, every
 * part holds the sum of its entries, each with its running balance, journals are numbered from 1 without gaps in the
 * order of their times, open holds are what is held, and open suspense items are what is in suspense.
 */
export async function findBreaks(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ text: string }>(sql`
    select 'journal ' || command_id || ' nets to ' || coalesce(sum(amount)::text, 'nothing') as text
    from journals left join entries using (account_id, version)
    where journals.version is not null
    group by command_id
    having sum(amount) is distinct from 0
    union all
    select 'entry without journal ' || account_id || ' ' || version
    from entries
    where not exists (
      select from journals
      where journals.account_id = entries.account_id and journals.version = entries.version
    )
    union all
    select 'the ledger nets to ' || sum(amount) from entries having sum(amount) <> 0
    union all
    select 'account ' || part.account_id || ' ' || part.kind || ' holds ' || part.balance
    from (${PARTS}) as part
    left join lateral (
      select sum(amount) as total from entries
      where entries.account_id = part.account_id and entries.kind = part.kind
    ) as derived on true
    where part.balance <> coalesce(total, 0)
    union all
    select 'account ' || account_id || ' stands at ' || accounts.version
    from accounts
    left join lateral (
      select count(version) as count, max(version) as last
      from journals where journals.account_id = accounts.account_id
    ) as derived on true
    where accounts.version <> count or accounts.version <> coalesce(last, 0)
    union all
    select 'entry ' || version || ' of ' || account_id || ' ' || kind || ' says ' || balance_after
    from (
      select *, sum(amount) over (partition by account_id, kind order by version) as running from entries
    ) as entry
    where balance_after <> running
    union all
    select 'journal ' || command_id || ' is older than the one before it'
    from (
      select command_id, created_at, lag(created_at) over (partition by account_id order by version) as before
      from journals where version is not null
    ) as journal
    where created_at < before
    union all
    select 'open holds of ' || coalesce(standing.account_id, hold.account_id) || ' differ'
    from (select account_id, held from accounts where held <> 0) as standing
    full join (
      select account_id, sum(amount + fee) as total from holds where state = 'open' group by account_id
    ) as hold on hold.account_id = standing.account_id
    where standing.held is distinct from hold.total
    union all
    select 'open suspense of ' || coalesce(standing.account_id, item.account_id) || ' differs'
    from (select account_id, suspense from accounts where suspense <> 0) as standing
    full join (
      select account_id, sum(amount) as total from suspense_items where resolved_at is null
      group by account_id having sum(amount) <> 0
    ) as item on item.account_id = standing.account_id
    where standing.suspense is distinct from item.total`);
  return rows.map((row) => row.text);
}

/** The parts of one owner that are not zero, in cents. */
export async function readBalances(
  db: Queryable,
  accountId: string,
): Promise<Partial<Record<AccountKind, number>>> {
  const rows = await db.query<{ kind: AccountKind; balance: bigint }>(
    sql`select kind, balance from (${PARTS}) as part where account_id = ${accountId} and balance <> 0`,
  );
  const found = new Map(rows.map((row) => [row.kind, Number(row.balance)]));
  const parts = ACCOUNT_KINDS.filter((kind) => found.has(kind));
  return Object.fromEntries(parts.map((kind) => [kind, found.get(kind)]));
}

/** Rows of a table of the service, for counts of effects. */
export async function countRows(
  db: Queryable,
  table: 'journals' | 'entries' | 'holds' | 'events' | 'outbox' | 'suspense_items' | 'releases',
): Promise<number> {
  const [row] = await db.query<{ count: bigint }>(sql`
    select case ${table}::text
      when 'journals' then (select count(*) from journals)
      when 'entries' then (select count(*) from entries)
      when 'holds' then (select count(*) from holds)
      when 'events' then (select count(*) from events)
      when 'outbox' then (select count(*) from outbox)
      when 'suspense_items' then (select count(*) from suspense_items)
      when 'releases' then (select count(*) from releases)
    end as count`);
  return Number(row?.count);
}

/** Rows of every table that a command may write: equal before and after what must leave no trace. */
export async function countAllRows(db: Queryable): Promise<number[]> {
  const tables = [
    'journals',
    'entries',
    'holds',
    'events',
    'outbox',
    'suspense_items',
    'releases',
  ] as const;
  return await Promise.all(tables.map((table) => countRows(db, table)));
}
