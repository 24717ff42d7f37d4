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
