import type { Queryable } from './pool.ts';
import { named, sql, type Statement } from './sql.ts';

/** Partitions are made this far ahead; the job runs every hour. */
const WEEKS_AHEAD = 52;

type WeeklyHistory = {
  /** Names the statements. */
  name: string;
  /** The row of `leases` that one process of the installation locks meanwhile, as a literal. */
  lease: Statement;
  /** Makes the partitions of so many weeks to come. */
  ensure(weeksAhead: number): Statement;
  /** Drops what is old as a whole and answers how many partitions that were. */
  drop: Statement;
};

/**
 * Makes the weekly partitions to come, then drops the old ones; answers how many. Nothing is done while another process
 * has the lease. Two statements, so that partitions to come do not depend on the locks that a drop needs (ADR 0018).
 */
export async function keepPartitions(db: Queryable, history: WeeklyHistory): Promise<number> {
  await ensurePartitions(db, history);
  return await dropPartitions(db, history);
}

export async function ensurePartitions(db: Queryable, history: WeeklyHistory): Promise<void> {
  const { name, lease } = history;
  const ensure = sql`select ${history.ensure(WEEKS_AHEAD)} from lease`;
  await db.query(named(`${name}_ensure_partitions`, underLease(lease, ensure)));
}

export async function dropPartitions(db: Queryable, history: WeeklyHistory): Promise<number> {
  const { name, lease } = history;
  const drop = sql`select ${history.drop} as dropped from lease`;
  const [row] = await db.query<{ dropped: number }>(
    named(`${name}_drop_partitions`, underLease(lease, drop)),
  );
  return row?.dropped ?? 0;
}

/** No row while another process has the lease. */
function underLease(lease: Statement, work: Statement): Statement {
  return sql`
    with lease as materialized (
      select name from leases where name = ${lease} for update skip locked
    )
    ${work}`;
}
