import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

/**
 * Sessions of this database that wait for a lock at this moment. Not to be asked within a transaction: that sees the
 * activity of one moment only.
 */
export async function countLockWaits(db: Queryable): Promise<number> {
  const waiting = await db.query(sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`);
  return waiting.length;
}
