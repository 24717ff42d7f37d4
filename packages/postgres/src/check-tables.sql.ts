import type { Queryable } from './pool.ts';
import { named, sql, type Statement } from './sql.ts';

/**
 * Whether tables of the migrated schema can be read, for readiness; rejects while one cannot. `tables` are their names,
 * written out. Reads one row of each.
 */
export async function checkTables(db: Queryable, tables: readonly Statement[]): Promise<void> {
  const reads = tables
    .map((table) => sql`exists (select from ${table})`)
    .reduce((all, one) => sql`${all}, ${one}`);
  await db.query(named('ready', sql`select ${reads}`));
}
