import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** Seconds for which the oldest open item has waited; 0 when there is none. Reads `suspense_items_open`. */
export async function readOldestSuspenseAge(db: Queryable): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(
    named(
      'suspense_oldest_age',
      sql`
        select extract(epoch from now() - created_at)::float8 as seconds
        from suspense_items
        where resolved_at is null
        order by id
        limit 1`,
    ),
  );
  return row?.seconds ?? 0;
}
