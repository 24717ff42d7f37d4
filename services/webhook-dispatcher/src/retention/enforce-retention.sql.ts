import { dropPartitions, ensurePartitions } from '@pixmesh/postgres/keep-partitions.sql';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import type { Logger } from '@pixmesh/telemetry/logger';

import { endOldSetAside } from './end-old-set-aside.sql.ts';
import { endOldWaiting } from './end-old-waiting.sql.ts';

/**
 * Makes the partitions of the weeks to come first: they depend on nothing that waits. Then ends what has waited for
 * longer than `keepDays`, and drops the partitions whose every row is older and from which nothing waits. Answers how
 * many tables were dropped.
 */
export async function enforceRetention(
  deps: { db: Queryable; logger: Logger },
  keepDays: number,
): Promise<number> {
  const { db } = deps;
  const history = {
    name: 'history',
    lease: sql`'retention'`,
    ensure: (weeksAhead: number) => sql`ensure_history_partitions(${weeksAhead})`,
    drop: sql`drop_old_history_partitions(${keepDays})`,
  };
  await ensurePartitions(db, history);
  await endOldSetAside(deps, keepDays);
  await endOldWaiting(db, keepDays);
  return await dropPartitions(db, history);
}
