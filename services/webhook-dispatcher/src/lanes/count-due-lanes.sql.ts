import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/** The gauges stop counting here: a scrape must not cost more the longer the queue is. */
const DUE_LANES_MAX = 10_000;
const SERVED_LANES_MAX = 1_000;

export type DueLanes = {
  /** Lanes that wait for a sender to take them up. */
  count: number;
  /** For how long the one that waits longest has. */
  oldestWaitingSeconds: number;
  /** Of the oldest first attempt in a lane that is served, requests that are out included. */
  oldestServedSeconds: number;
};

/**
 * What is due, apart by whose affair it is: lanes that wait need senders; in a lane that is served, a receiver is slow
 * or its sender is. What waits behind an open breaker counts for neither. Reads the beginning of `lanes_joining`, the
 * lines in `lanes_waiting` up to a bound, and one row of `queue_lane` for each lane that is served.
 */
export async function countDueLanes(
  db: Queryable,
  { clock, leaseMs }: { clock: ScheduleClock; leaseMs: number },
): Promise<DueLanes> {
  const [row] = await db.query<DueLanes>(countDueLanesStatement(clock, leaseMs));
  return row ?? { count: 0, oldestWaitingSeconds: 0, oldestServedSeconds: 0 };
}

export function countDueLanesStatement(clock: ScheduleClock, leaseMs: number): Statement {
  const now = scheduleNow(clock);
  return named(
    'lanes_count_due',
    sql`
      select
        waiting.count,
        coalesce(extract(epoch from ${now} - waiting.oldest), 0)::float8 as "oldestWaitingSeconds",
        coalesce(extract(epoch from ${now} - served.oldest), 0)::float8 as "oldestServedSeconds"
      from (
        select count(*)::int as count, min(claimable_at) as oldest
        from (
          (
            select claimable_at
            from lanes
            where not waiting and claimable_at <= ${now} and claimable_at < 'infinity'
            order by claimable_at
            limit ${DUE_LANES_MAX}
          )
          union all
          (
            select claimable_at
            from lanes
            where waiting and claimable_at <= ${now}
            order by account_id, claimable_at
            limit ${DUE_LANES_MAX}
          )
        ) as due
      ) as waiting
      cross join (
        select min(first_attempt.due_at) as oldest
        from (
          select id
          from lanes
          where not waiting
            and claimable_at > ${now}
            and claimable_at <= ${now} + ${leaseMs}::float8 * interval '1 millisecond'
            and claimable_at < 'infinity'
            and leased
            and probe_at is null
          order by claimable_at
          limit ${SERVED_LANES_MAX}
        ) as lane
        cross join lateral (
          select due_at
          from queue
          where queue.lane_id = lane.id and rank = 0 and due_at <= ${now}
          order by due_at
          limit 1
        ) as first_attempt
      ) as served`,
  );
}
