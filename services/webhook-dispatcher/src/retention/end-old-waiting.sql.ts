import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { isDisabled } from '#lanes/disabled-endpoint.sql.ts';
import { endPicked } from '#lanes/end-picked.sql.ts';

/** Rows per statement: locks on them are short. */
const ENDED_PER_STATEMENT_MAX = 1_000;

/**
 * Ends what has waited for a disabled endpoint for as long as deliveries are kept: it is skipped. Otherwise it would
 * keep its week, and every week behind it, for all accounts (ADR 0014). What else waits ends by itself: a schedule
 * within a day, and what a deleted endpoint leaves is canceled. Reads the oldest rows of `queue` by its key: the id of
 * a schedule is its delivery's, so it has the time of the event. Locked rows are left to the next time.
 */
export async function endOldWaiting(db: Queryable, keepDays: number): Promise<void> {
  while ((await endSome(db, keepDays)) === ENDED_PER_STATEMENT_MAX);
}

async function endSome(db: Queryable, keepDays: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    named(
      'queue_end_old_waiting',
      sql`
        with picked as materialized (
          select id, delivery_id
          from queue
          where id < uuid_v7_floor(now() - make_interval(days => ${keepDays}::int))
            and not is_resend
            and exists (
              select from endpoints where endpoints.id = queue.lane_id and ${isDisabled} and deleted_at is null
            )
          order by id
          limit ${ENDED_PER_STATEMENT_MAX}
          for update skip locked
        ),
        ${endPicked('skipped')}
        select count(*)::int as count
        from picked`,
    ),
  );
  return row?.count ?? 0;
}
