import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

/** Weekly partitions are made this far ahead; the job runs every hour. */
const PARTITION_WEEKS_AHEAD = 52;

/**
 * Makes the partitions of the weeks to come, then drops those whose every row is older than `keepDays` and from which
 * nothing waits: one process of the installation at a time, by the row lock on the lease. Answers how many tables were
 * dropped. Two statements, so that partitions to come do not depend on the locks that a drop needs.
 */
export async function enforceRetention(db: Queryable, keepDays: number): Promise<number> {
  await db.query(
    named(
      'history_ensure_partitions',
      underLease(sql`select ensure_history_partitions(${PARTITION_WEEKS_AHEAD}) from lease`),
    ),
  );
  const [row] = await db.query<{ dropped: number }>(
    named(
      'history_drop_partitions',
      underLease(sql`select drop_old_history_partitions(${keepDays}) as dropped from lease`),
    ),
  );
  return row?.dropped ?? 0;
}

/** No row while another process has the lease. */
function underLease(work: Statement): Statement {
  return sql`
    with lease as materialized (
      select name from leases where name = 'retention' for update skip locked
    )
    ${work}`;
}
