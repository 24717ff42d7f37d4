import { ChargeStatus } from '@pixmesh/contracts/http/charge';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import type { ChargeFilters } from '#charge/reads/list-charges.sql.ts';

export type ListShape = {
  name: string;
  /** Part of the account's history behind which the page starts. */
  depth: number;
  filters: ChargeFilters;
  startingAfter: string | null;
};

/** Parts of an account's history, from its newest charge, behind which pages are asked for. */
const DEPTHS = [0, 0.05, 0.95];

/** Every filter alone and with every other, at several depths of one account's list. */
export async function listShapes(db: Queryable, accountId: AccountId): Promise<ListShape[]> {
  const [ends] = await db.query<{ oldest: Date; newest: Date }>(
    sql`
      select min(created_at) as oldest, max(created_at) as newest
      from charges where account_id = ${accountId} and source = 'api'`,
  );
  const [oldestMs = 0, newestMs = 0] = [ends?.oldest.getTime(), ends?.newest.getTime()];
  const shapes: ListShape[] = [];
  for (const depth of DEPTHS) {
    const createdBefore = new Date(newestMs - depth * (newestMs - oldestMs));
    const createdAfter = new Date(createdBefore.getTime() - (newestMs - oldestMs) / 10);
    const cursor = await chargeAt(db, accountId, createdBefore);
    for (const status of [undefined, ...ChargeStatus.options]) {
      const of = { accountId, status };
      const name = `${status ?? 'any status'}, ${depth * 100} % deep`;
      shapes.push(
        {
          depth,
          name: `${name}, behind a cursor`,
          filters: of,
          startingAfter: depth > 0 ? cursor : null,
        },
        { depth, name: `${name}, before`, filters: { ...of, createdBefore }, startingAfter: null },
        { depth, name: `${name}, after`, filters: { ...of, createdAfter }, startingAfter: cursor },
        {
          depth,
          name: `${name}, between`,
          filters: { ...of, createdAfter, createdBefore },
          startingAfter: cursor,
        },
        // The lower of the two is where the page starts.
        {
          depth,
          name: `${name}, before what a shallow cursor hides`,
          filters: { ...of, createdBefore },
          startingAfter: await chargeAt(db, accountId, new Date(newestMs)),
        },
      );
    }
  }
  return shapes;
}

async function chargeAt(db: Queryable, accountId: AccountId, at: Date): Promise<string | null> {
  const rows = await db.query<{ id: string }>(
    sql`
      select id from charges where account_id = ${accountId} and source = 'api' and created_at <= ${at}
      order by created_at desc, id desc limit 1`,
  );
  return rows[0]?.id ?? null;
}
