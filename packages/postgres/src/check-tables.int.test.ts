import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { checkTables } from './check-tables.sql.ts';
import { createPool } from './pool.ts';
import { sql, type Statement } from './sql.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(async () => await database[Symbol.asyncDispose]());

/** As one process checks them: by connections of its own. */
async function check(...tables: readonly Statement[]): Promise<void> {
  await using db = createPool({ url: database.url, applicationName: 'check-tables-test', max: 1 });
  await checkTables(db, tables);
  await checkTables(db, tables);
}

test('tables that can be read are ready, with and without rows', async () => {
  await check(sql`charges`, sql`leases`);
});

test('a table that is not there yet is not ready', async () => {
  await expect(check(sql`charges`, sql`not_migrated`)).rejects.toMatchObject({ code: '42P01' });
});

test('a table that the service may not read is not ready', async () => {
  await expect(check(sql`pg_authid`, sql`charges`)).rejects.toMatchObject({ code: '42501' });
});
