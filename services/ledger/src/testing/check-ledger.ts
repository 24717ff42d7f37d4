import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import type { AccountKind } from '#accounts/chart-of-accounts.ts';

/**
 * What is wrong with the books, derived from the entries alone: every journal and the whole ledger net to zero,
 * every account holds the sum of its entries, numbered from 1 without gaps, each with its running balance.
 */
export async function findBreaks(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ text: string }>(sql`
    select 'journal ' || journals.id || ' nets to ' || coalesce(sum(amount)::text, 'nothing') as text
    from journals left join entries on journal_id = journals.id
    group by journals.id
    having sum(amount) is distinct from 0
    union all
    select 'entry without journal ' || journal_id
    from entries where not exists (select from journals where id = journal_id)
    union all
    select 'the ledger nets to ' || sum(amount) from entries having sum(amount) <> 0
    union all
    select 'account ' || account_id || ' ' || kind || ' holds ' || balance || ' at ' || accounts.version
    from accounts
    left join lateral (
      select sum(amount) as total, count(*) as count, max(version) as last
      from entries
      where entries.account_id = accounts.account_id and entries.kind = accounts.kind
    ) as derived on true
    where balance <> coalesce(total, 0) or version <> count or version <> coalesce(last, 0)
    union all
    select 'entry ' || version || ' of ' || account_id || ' ' || kind || ' says ' || balance_after
    from (
      select *, sum(amount) over (partition by account_id, kind order by version) as running from entries
    ) as entry
    where balance_after <> running
    union all
    select 'open suspense of ' || coalesce(standing.account_id, item.account_id) || ' differs'
    from (select account_id, balance from accounts where kind = 'suspense' and balance <> 0) as standing
    full join (
      select account_id, sum(amount) as total from suspense_items where resolved_at is null group by account_id
    ) as item on item.account_id = standing.account_id
    where standing.balance is distinct from item.total`);
  return rows.map((row) => row.text);
}

/** Balance of each account of one owner, in cents. */
export async function readBalances(
  db: Queryable,
  accountId: string,
): Promise<Partial<Record<AccountKind, number>>> {
  const rows = await db.query<{ kind: AccountKind; balance: bigint }>(
    sql`select kind, balance from accounts where account_id = ${accountId} order by kind`,
  );
  return Object.fromEntries(rows.map((row) => [row.kind, Number(row.balance)]));
}

/** Rows of a table of the service, for counts of effects. */
export async function countRows(
  db: Queryable,
  table: 'journals' | 'entries' | 'events' | 'outbox' | 'suspense_items' | 'releases',
): Promise<number> {
  const [row] = await db.query<{ count: bigint }>(sql`
    select case ${table}::text
      when 'journals' then (select count(*) from journals)
      when 'entries' then (select count(*) from entries)
      when 'events' then (select count(*) from events)
      when 'outbox' then (select count(*) from outbox)
      when 'suspense_items' then (select count(*) from suspense_items)
      when 'releases' then (select count(*) from releases)
    end as count`);
  return Number(row?.count);
}
