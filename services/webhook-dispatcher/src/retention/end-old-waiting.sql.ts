import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { isDisabled } from '#lanes/disabled-endpoint.sql.ts';
import { endPicked } from '#lanes/end-picked.sql.ts';

import { ENDED_PER_STATEMENT_MAX, endInSteps } from './end-in-steps.ts';

/** The endpoint whose lane a row is in, while nothing is sent to it. */
const disabledEndpoint = sql`select from endpoints where endpoints.id = queue.lane_id and ${isDisabled}`;
const conditions = {
  skipped: sql`exists (${disabledEndpoint} and deleted_at is null)`,
  failed: sql`not exists (${disabledEndpoint})`,
};

/**
 * Ends what has waited for as long as deliveries are kept. For a disabled endpoint it is skipped. For any other
 * destination it has failed: behind an open breaker of a lane that gets more than its probes send, no schedule ends.
 * Otherwise it would keep its week, and every week behind it, for all accounts (ADR 0014). What a deleted endpoint
 * leaves is canceled elsewhere. Reads the oldest rows of `queue` by its key: the id of a schedule is its delivery's, so
 * it has the time of the event. Locked rows are left to the next time.
 * Answers whether all others are ended.
 */
export async function endOldWaiting(db: Queryable, keepDays: number): Promise<boolean> {
  const areSkipped = await endInSteps(() => endSome(db, keepDays, 'skipped'));
  const areFailed = await endInSteps(() => endSome(db, keepDays, 'failed'));
  return areSkipped && areFailed;
}

async function endSome(
  db: Queryable,
  keepDays: number,
  status: keyof typeof conditions,
): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    named(
      `queue_end_old_${status}`,
      sql`
        with picked as materialized (
          select id, delivery_id
          from queue
          where id < uuid_v7_floor(now() - make_interval(days => ${keepDays}::int))
            and not is_resend
            and ${conditions[status]}
          order by id
          limit ${ENDED_PER_STATEMENT_MAX}
          for update skip locked
        ),
        ${endPicked(status)}
        select count(*)::int as count
        from picked`,
    ),
  );
  return row?.count ?? 0;
}
