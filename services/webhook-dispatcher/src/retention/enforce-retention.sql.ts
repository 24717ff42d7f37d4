import { keepPartitions } from '@pixmesh/postgres/keep-partitions.sql';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

/**
 * Makes the partitions of the weeks to come, then drops those whose every row is older than `keepDays` and from which
 * nothing waits. Answers how many tables were dropped.
 */
export function enforceRetention(db: Queryable, keepDays: number): Promise<number> {
  return keepPartitions(db, {
    name: 'history',
    lease: sql`'retention'`,
    ensure: (weeksAhead) => sql`ensure_history_partitions(${weeksAhead})`,
    drop: sql`drop_old_history_partitions(${keepDays})`,
  });
}
