import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

/** Rows of tables that the transaction has read so far, by scans of tables and of indexes. */
export async function countRowsRead(tx: Queryable): Promise<number> {
  const [row] = await tx.query<{ rows: number }>(sql`
    select coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::int as rows
    from pg_stat_xact_user_tables`);
  return row?.rows ?? 0;
}
