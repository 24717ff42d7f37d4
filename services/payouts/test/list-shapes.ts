import { PayoutStatus } from '@pixmesh/contracts/http/payout';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import type { PayoutFilters } from '#reads/list-payouts.sql.ts';

type ListShape = { name: string; filters: PayoutFilters; startingAfter: string | null };

/** Payouts of an account, from its newest, behind which pages are asked for: parts of all. */
const DEPTHS = [0, 0.05, 0.95];

/** Every filter of the public list alone and with every other, at several depths of one account's list. */
export async function listShapes(db: Queryable, accountId: AccountId): Promise<ListShape[]> {
  const places = await db.query<{ id: string; created_at: Date }>(
    sql`
      select id, created_at from payouts
      where account_id = ${accountId} and status <> 'intent' order by created_at desc, id desc`,
  );
  return DEPTHS.flatMap((depth) => {
    const place = places[Math.floor(depth * (places.length - 1))];
    const behind = place && depth > 0 ? place.id : null;
    const createdBefore = place?.created_at;
    const createdAfter = places[Math.floor((depth + 0.04) * (places.length - 1))]?.created_at;
    return [undefined, ...PayoutStatus.options].flatMap((status) => {
      const name = `${status ?? 'any status'}, ${depth * 100} % deep`;
      return [
        { name: `${name}, cursor`, filters: { accountId, status }, startingAfter: behind },
        {
          name: `${name}, between`,
          filters: { accountId, status, createdAfter, createdBefore },
          startingAfter: behind,
        },
        {
          name: `${name}, before what a shallow cursor hides`,
          filters: { accountId, status, createdBefore },
          startingAfter: places[0]?.id ?? null,
        },
      ];
    });
  });
}
