import type { Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

/** An owner whose part is not what its items add up to. */
type UnequalPart = { accountId: string; items: bigint; stored: bigint };

export type ComparedPart = { compared: number; unequal: UnequalPart[] };

/** A column of `accounts`, and what it is made of: rows of (account_id, amount). */
export type Part = { column: Statement; items: Statement };

export const SUSPENSE: Part = {
  column: sql`suspense`,
  items: sql`select account_id, amount from suspense_items where resolved_at is null`,
};

export const HELD: Part = {
  column: sql`held`,
  items: sql`select account_id, amount + fee as amount from holds where state = 'open'`,
};

export const PENDING: Part = {
  column: sql`pending`,
  items: sql`select account_id, amount from releases`,
};

export const BLOCKED: Part = {
  column: sql`blocked`,
  items: sql`select account_id, blocked as amount from pix_debits where blocked <> 0`,
};

/** Items against the owner's row, for all owners; from one snapshot. Reads each row of both once. */
export async function comparePart(db: Queryable, { column, items }: Part): Promise<ComparedPart> {
  const [row] = await db.query<{
    compared: number;
    unequal: { accountId: string; items: string; stored: string }[];
  }>(sql`
    with item as (
      select account_id, sum(amount) as items, count(*) as count
      from (${items}) as item
      group by account_id
    )
    select
      (select coalesce(sum(count), 0)::int from item) as compared,
      (
        select coalesce(json_agg(json_build_object(
          'accountId', account_id, 'items', coalesce(items, 0)::text, 'stored', coalesce(${column}, 0)::text
        )), '[]')
        from accounts
        full join item using (account_id)
        where coalesce(items, 0) <> coalesce(${column}, 0)
      ) as unequal`);
  return {
    compared: row?.compared ?? 0,
    unequal: (row?.unequal ?? []).map(({ accountId, items, stored }) => ({
      accountId,
      items: BigInt(items),
      stored: BigInt(stored),
    })),
  };
}
