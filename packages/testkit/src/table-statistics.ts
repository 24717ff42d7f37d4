import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

import type { TestDatabase } from './test-database.ts';

/** What the planner may know of a table that has many rows. */
export const TABLE_STATISTICS = ['filled and analyzed', 'analyzed while it was empty'] as const;

/** Fills a table so that the planner knows just this of it: nothing analyzes it by itself. */
export async function fillUnderStatistics(
  { adminUrl, db }: TestDatabase,
  {
    table,
    statistics,
    fill,
  }: {
    /** With its schema. */
    table: Statement;
    statistics: (typeof TABLE_STATISTICS)[number];
    fill(db: Database): Promise<void>;
  },
): Promise<void> {
  await using admin = createPool({ url: adminUrl, applicationName: 'test', max: 1 });
  await admin.query(sql`alter table ${table} set (autovacuum_enabled = false)`);
  if (statistics === 'analyzed while it was empty') await admin.query(sql`analyze ${table}`);
  await fill(db);
  if (statistics === 'filled and analyzed') await admin.query(sql`analyze ${table}`);
}
