import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { isUsedUp } from '#rates/delivery-rates.sql.ts';
import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/** The gauges stop counting here: a scrape must not cost more the longer the queue is. */
const DUE_LANES_MAX = 10_000;
const SERVED_LANES_MAX = 1_000;

export type DueLanes = {
  /** Lanes that wait for a sender to take them up, but for those that wait for the limit of their account. */
  count: number;
  /** For how long the one that waits longest has. */
  oldestWaitingSeconds: number;
  /** The same of lanes whose account has used up its limit on deliveries per second. */
  oldestLimitedSeconds: number;
  /** Of the oldest first attempt in a lane that is served, requests that are out included. */
  oldestServedSeconds: number;
};

/**
 * What is due, by what it waits for: lanes that wait need senders, unless their account's limit is used up; in a lane
 * that is served, its receiver or its sender is slow. What waits behind an open breaker counts for none. Reads the
 * beginning of `lanes_joining`, the lines in `lanes_waiting` up to a bound, the limit of each account in them, and one
 * row of `queue_lane` for each lane that is served.
 */
export async function countDueLanes(
  db: Queryable,
  { clock, leaseMs }: { clock: ScheduleClock; leaseMs: number },
): Promise<DueLanes> {
  const [row] = await db.query<DueLanes>(countDueLanesStatement(clock, leaseMs));
  return (
    row ?? { count: 0, oldestWaitingSeconds: 0, oldestLimitedSeconds: 0, oldestServedSeconds: 0 }
  );
}

export function countDueLanesStatement(clock: ScheduleClock, leaseMs: number): Statement {
  const now = scheduleNow(clock);
  return named(
    'lanes_count_due',
    sql`
      select
        waiting.count,
        coalesce(extract(epoch from ${now} - waiting.oldest), 0)::float8 as "oldestWaitingSeconds",
        coalesce(extract(epoch from ${now} - waiting.oldest_limited), 0)::float8 as "oldestLimitedSeconds",
        coalesce(extract(epoch from ${now} - served.oldest), 0)::float8 as "oldestServedSeconds"
      from (
        select
          (count(*) filter (where rate.account_id is null))::int as count,
          min(claimable_at) filter (where rate.account_id is null) as oldest,
          min(claimable_at) filter (where rate.account_id is not null) as oldest_limited
        from (
          (
            select account_id, claimable_at
            from lanes
            where not waiting and claimable_at <= ${now} and claimable_at < 'infinity'
            order by claimable_at
            limit ${DUE_LANES_MAX}
          )
          union all
          (
            select account_id, claimable_at
            from lanes
            where waiting and claimable_at <= ${now}
            order by account_id, claimable_at
            limit ${DUE_LANES_MAX}
          )
        ) as due
        left join lateral (
          select account_id
          from delivery_rates
          where account_id = due.account_id and ${isUsedUp(now)}
          limit 1
        ) as rate on true
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
