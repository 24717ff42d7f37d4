import { dropPartitions, ensurePartitions } from '@pixmesh/postgres/keep-partitions.sql';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { Kept } from '@pixmesh/postgres/retention-job';
import { sql } from '@pixmesh/postgres/sql';
import type { Logger } from '@pixmesh/telemetry/logger';

import { endOldSetAside } from './end-old-set-aside.sql.ts';
import { endOldWaiting } from './end-old-waiting.sql.ts';

/**
 * Makes the partitions of the weeks to come first: they depend on nothing that waits. Then ends what has waited for
 * longer than `keepDays`, and drops the partitions whose every row is older and from which nothing waits. Of
 * what waits, a turn ends a bounded part.
 */
export async function enforceRetention(
  deps: { db: Queryable; logger: Logger },
  keepDays: number,
): Promise<Kept> {
  const { db } = deps;
  const history = {
    name: 'history',
    lease: sql`'retention'`,
    ensure: (weeksAhead: number) => sql`ensure_history_partitions(${weeksAhead})`,
    drop: sql`drop_old_history_partitions(${keepDays})`,
  };
  await ensurePartitions(db, history);
  const areEventsEnded = await endOldSetAside(deps, keepDays);
  const areDeliveriesEnded = await endOldWaiting(db, keepDays);
  const dropped = await dropPartitions(db, history);
  return { dropped, isDone: areEventsEnded && areDeliveriesEnded };
}
