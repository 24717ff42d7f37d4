import { accountsInTurn, BEFORE_ALL_ACCOUNTS } from '@pixmesh/postgres/accounts-in-turn';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { isUsedUp } from '#rates/delivery-rates.sql.ts';
import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/** The gauges stop counting here: a scrape must not cost more the longer the queue is. */
const DUE_LANES_MAX = 10_000;
/** Whose oldest lanes are looked at. */
const ACCOUNTS_MAX = 10_000;
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
 * that is served, its receiver or its sender is slow. What waits behind an open breaker counts for none.
 *
 * Walks `lanes_waiting` from account to account and reads the limit and the oldest lane of each, so that no account's
 * many lanes hide the oldest of another; the lanes of those that are not limited are counted up to a bound. Reads the
 * beginning of `lanes_joining`, where the oldest of all come first, and one row of `queue_lane` for each lane that is
 * served.
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
      with recursive ${dueLanes(now)}
      select
        counted.count,
        coalesce(extract(epoch from ${now} - waiting.oldest), 0)::float8 as "oldestWaitingSeconds",
        coalesce(extract(epoch from ${now} - waiting.oldest_limited), 0)::float8 as "oldestLimitedSeconds",
        coalesce(extract(epoch from ${now} - served.oldest), 0)::float8 as "oldestServedSeconds"
      from (
        select
          min(claimable_at) filter (where is_limited is null) as oldest,
          min(claimable_at) filter (where is_limited) as oldest_limited
        from (
          select claimable_at, is_limited from joining
          union all
          select claimable_at, is_limited from oldest_in_line
        ) as due
      ) as waiting
      cross join (
        select (
          (select count(*) from joining where is_limited is null)
          + (
            select count(*)
            from (
              select
              from oldest_in_line
              cross join lateral (
                select
                from lanes
                where waiting and account_id = ring_account and claimable_at <= ${now}
                limit ${DUE_LANES_MAX}
              ) as lane
              where is_limited is null
              limit ${DUE_LANES_MAX}
            ) as bounded
          )
        )::int as count
      ) as counted
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

/**
 * The CTEs `joining`: lanes whose time has come and that stand in no line yet; `oldest_in_line`: of each account the lane
 * that has stood in its line for longest; both with whether the limit of the account is used up.
 */
function dueLanes(now: Statement): Statement {
  const accounts = accountsInTurn({
    table: sql`lanes`,
    isWork: sql`waiting and claimable_at <= ${now}`,
    after: BEFORE_ALL_ACCOUNTS,
    limit: ACCOUNTS_MAX,
  });
  return sql`
      ${accounts},
      joining as materialized (
        select claimable_at, is_limited
        from (
          select account_id, claimable_at
          from lanes
          where not waiting and claimable_at <= ${now} and claimable_at < 'infinity'
          order by claimable_at
          limit ${DUE_LANES_MAX}
        ) as joining_lane
        left join lateral ${limitOf(sql`joining_lane.account_id`, now)} as rate on true
      ),
      oldest_in_line as materialized (
        select ring_account, claimable_at, is_limited
        from ring
        cross join lateral (
          select claimable_at
          from lanes
          where waiting and account_id = ring_account and claimable_at <= ${now}
          order by claimable_at
          limit 1
        ) as lane
        left join lateral ${limitOf(sql`ring_account`, now)} as rate on true
        where turn > 0
      )`;
}

/** Whether the limit of an account is used up, by one read of the primary key: true, or null. */
function limitOf(account: Statement, now: Statement): Statement {
  return sql`(
          select true as is_limited
          from delivery_rates
          where delivery_rates.account_id = ${account} and ${isUsedUp(now)}
          limit 1
        )`;
}
