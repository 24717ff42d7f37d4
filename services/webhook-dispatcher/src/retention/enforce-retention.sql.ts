import { keepPartitions } from '@pixmesh/postgres/keep-partitions.sql';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import { endOldWaiting } from './end-old-waiting.sql.ts';

/**
 * Ends what has waited for longer than `keepDays` for a disabled endpoint. Makes the partitions of the weeks to come,
 * then drops those whose every row is older and from which nothing waits. Answers how many tables were dropped.
 */
export async function enforceRetention(db: Queryable, keepDays: number): Promise<number> {
  await endOldWaiting(db, keepDays);
  return await keepPartitions(db, {
    name: 'history',
    lease: sql`'retention'`,
    ensure: (weeksAhead) => sql`ensure_history_partitions(${weeksAhead})`,
    drop: sql`drop_old_history_partitions(${keepDays})`,
  });
}
