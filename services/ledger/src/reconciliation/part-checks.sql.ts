import type { Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

/** An owner whose part is not what its items add up to. */
export type UnequalPart = { accountId: string; items: bigint; stored: bigint };

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

/** By `pix_debits_blocked`, which holds nothing else. */
export const BLOCKED: Part = {
  column: sql`blocked`,
  items: sql`select account_id, blocked as amount from pix_debits where blocked <> 0`,
};

/** From sums of each owner's releases, which were read in the snapshot that compares them. */
export function pendingPart(sums: ReadonlyMap<string, bigint>): Part {
  return {
    column: sql`pending`,
    items: sql`
      select *
      from unnest(${[...sums.keys()]}::uuid[], ${[...sums.values()]}::bigint[]) as item (account_id, amount)`,
  };
}

/** Items against the owner's row, for these owners or all; from one snapshot. Reads each row of both once. */
export async function comparePart(
  db: Queryable,
  { column, items }: Part,
  owners: readonly string[] | null = null,
): Promise<ComparedPart> {
  const ofOwners = owners === null ? sql`` : sql`where account_id = any(${owners}::uuid[])`;
  const [row] = await db.query<{
    compared: number;
    unequal: { accountId: string; items: string; stored: string }[];
  }>(sql`
    with item as (
      select account_id, sum(amount) as items, count(*) as count
      from (${items}) as item
      ${ofOwners}
      group by account_id
    )
    select
      (select coalesce(sum(count), 0)::int from item) as compared,
      (
        select coalesce(json_agg(json_build_object(
          'accountId', account_id, 'items', coalesce(items, 0)::text, 'stored', coalesce(stored, 0)::text
        )), '[]')
        from (select account_id, ${column} as stored from accounts ${ofOwners}) as owner
        full join item using (account_id)
        where coalesce(items, 0) <> coalesce(stored, 0)
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
