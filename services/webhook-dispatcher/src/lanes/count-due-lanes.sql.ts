import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from '#sending/schedule-clock.ts';

/** The gauge stops counting here: a scrape must not cost more the longer the queue is. */
const DUE_LANES_MAX = 10_000;

/**
 * How many lanes wait for a sender to take them up, and for how long the one that waits longest has. What waits behind
 * the bound or the breaker of a lane that is served is that receiver's affair, and no backlog of ours. Reads
 * `lanes_claimable`.
 */
export async function countDueLanes(
  db: Queryable,
  clock: ScheduleClock,
): Promise<{ count: number; oldestSeconds: number }> {
  const [row] = await db.query<{ count: number; oldest_seconds: number }>(
    countDueLanesStatement(clock),
  );
  return { count: row?.count ?? 0, oldestSeconds: row?.oldest_seconds ?? 0 };
}

export function countDueLanesStatement(clock: ScheduleClock): Statement {
  const now = scheduleNow(clock);
  return named(
    'lanes_count_due',
    sql`
      select
        count(*)::int as count,
        coalesce(extract(epoch from ${now} - min(claimable_at)), 0)::float8 as oldest_seconds
      from (
        select claimable_at
        from lanes
        where claimable_at <= ${now} and claimable_at < 'infinity'
        order by claimable_at
        limit ${DUE_LANES_MAX}
      ) as due`,
  );
}
