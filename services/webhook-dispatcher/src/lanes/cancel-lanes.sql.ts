import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { endPicked } from './end-picked.sql.ts';

/** Rows per statement: locks on them are short. */
export const CANCELED_PER_STATEMENT_MAX = 1_000;

/**
 * Empties lanes of deleted endpoints, due or not, a batch at a time; lanes of others are left alone. What is pending is
 * canceled, what was sent stays as history (decision 158), and a request that is out still brings its attempt into it.
 * Locked rows are skipped: the statement waits for none, and no deadlock can form. Answers how many rows were removed;
 * to be called until that is none.
 */
export async function cancelLanes(db: Queryable, laneIds: readonly string[]): Promise<number> {
  const [row] = await db.query<{ count: number }>(cancelLanesStatement(laneIds));
  return row?.count ?? 0;
}

export function cancelLanesStatement(laneIds: readonly string[]): Statement {
  return named(
    'lanes_cancel',
    sql`
      with deleted as (
        select named.id
        from unnest(${laneIds}::uuid[]) as named (id)
        cross join lateral (
          select from endpoints where endpoints.id = named.id and deleted_at is not null offset 0
        ) endpoint
      ),
      picked as (
        select waiting.id, waiting.delivery_id
        from deleted
        cross join lateral (
          select id, delivery_id
          from queue
          where queue.lane_id = deleted.id
          limit ${CANCELED_PER_STATEMENT_MAX}
          for update skip locked
        ) waiting
        limit ${CANCELED_PER_STATEMENT_MAX}
      ),
      ${endPicked('canceled')}
      select count(*)::int as count
      from picked`,
  );
}
