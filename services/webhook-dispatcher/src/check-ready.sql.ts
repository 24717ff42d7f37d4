import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** Whether the migrated schema answers; rejects while it does not. */
export async function checkTables(db: Queryable): Promise<void> {
  await db.query(
    named('ready', sql`select exists (select from endpoints), exists (select from lanes)`),
  );
}
