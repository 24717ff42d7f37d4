import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from './schedule-clock.ts';

/** The gauge stops counting here: a scrape must not cost more the longer the queue is. */
const DUE_COUNT_MAX = 10_000;

/** How many deliveries are due, and for how long the oldest has been. Reads `deliveries_due`. */
export async function countDue(
  db: Queryable,
  clock: ScheduleClock,
): Promise<{ count: number; oldestSeconds: number }> {
  const now = scheduleNow(clock);
  const [row] = await db.query<{ count: number; oldest_seconds: number }>(
    named(
      'deliveries_count_due',
      sql`
        select
          count(*)::int as count,
          coalesce(extract(epoch from ${now} - min(due_at)), 0)::float8 as oldest_seconds
        from (
          select due_at
          from deliveries
          where status = 'pending' and due_at <= ${now}
          order by due_at
          limit ${DUE_COUNT_MAX}
        ) as due`,
    ),
  );
  return { count: row?.count ?? 0, oldestSeconds: row?.oldest_seconds ?? 0 };
}
