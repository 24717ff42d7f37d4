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

/** What is blocked is what is blocked of each Pix, and a Pix's refunds are its holds. */
const PIX_BREAKS = sql`
  select 'blocked Pix of ' || coalesce(standing.account_id, pix.account_id) || ' differ'
  from (select account_id, blocked from accounts where blocked <> 0) as standing
  full join (
    select account_id, sum(blocked) as total from pix_debits
    group by account_id having sum(blocked) <> 0
  ) as pix on pix.account_id = standing.account_id
  where standing.blocked is distinct from pix.total
  union all
  select 'refunds of ' || end_to_end_id || ' differ'
  from pix_debits
  left join (
    select
      refund_holds.account_id, end_to_end_id,
      sum(amount) filter (where state = 'open') as open,
      sum(amount) filter (where state = 'settled') as settled
    from refund_holds join holds using (hold_id)
    group by refund_holds.account_id, end_to_end_id
  ) as hold using (account_id, end_to_end_id)
  where refunding <> coalesce(open, 0) or refunded <> coalesce(settled, 0)`;

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
    where standing.suspense is distinct from item.total
    union all ${PIX_BREAKS}`);
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

const TABLES = [
  'journals',
  'entries',
  'holds',
  'events',
  'outbox',
  'suspense_items',
  'releases',
  'pix_debits',
  'refund_holds',
] as const;
type Table = (typeof TABLES)[number];

/** Rows of a table of the service, for counts of effects. */
export async function countRows(db: Queryable, table: Table): Promise<number> {
  const [row] = await db.query<{ count: bigint }>(sql`
    select case ${table}::text
      when 'journals' then (select count(*) from journals)
      when 'entries' then (select count(*) from entries)
      when 'holds' then (select count(*) from holds)
      when 'events' then (select count(*) from events)
      when 'outbox' then (select count(*) from outbox)
      when 'suspense_items' then (select count(*) from suspense_items)
      when 'releases' then (select count(*) from releases)
      when 'pix_debits' then (select count(*) from pix_debits)
      when 'refund_holds' then (select count(*) from refund_holds)
    end as count`);
  return Number(row?.count);
}

/** Rows of every table that a command may write: equal before and after what must leave no trace. */
export async function countAllRows(db: Queryable): Promise<number[]> {
  return await Promise.all(TABLES.map((table) => countRows(db, table)));
}
