import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createPool, type Database } from './pool.ts';
import { sql } from './sql.ts';

const CONNECTIONS = 8;
const ROLE = 'pixmesh_either_password';
const OLD = 'old:p@ss/word%?';
const NEW = 'new&p=ss w#rd%41';

let database: TestDatabase;
let admin: Database;

beforeAll(async () => {
  database = await createTestDatabase('charges');
  admin = createPool({ url: database.adminUrl, applicationName: 'either-password', max: 1 });
  await admin.query(sql`drop role if exists pixmesh_either_password`);
  await admin.query(sql`create role pixmesh_either_password login password 'old:p@ss/word%?'`);
});
afterAll(async () => {
  await admin.query(sql`drop role pixmesh_either_password`);
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

function urlWith(password: string, other?: string): string {
  const url = new URL(database.url);
  url.username = ROLE;
  url.password = encodeURIComponent(password);
  if (other !== undefined) url.searchParams.set('other_password', other);
  return url.href;
}

/** So many statements at once, each on a connection of its own; what is open already opens no more. */
function useConnections(db: Database, count: number): Promise<unknown[]> {
  return Promise.all(Array.from({ length: count }, () => db.query(sql`select pg_sleep(0.05)`)));
}

function poolOf(url: string): Database {
  return createPool({ url, applicationName: 'either-password', max: CONNECTIONS });
}

test('a password changes at the server while connections are opened and used, and no statement fails', async () => {
  await using both = poolOf(urlWith(OLD, NEW));
  await using reversed = poolOf(urlWith(NEW, OLD));
  const pools = [both, reversed];
  for (const pool of pools) await useConnections(pool, 2);
  const changed = admin.query(sql`alter role pixmesh_either_password password 'new&p=ss w#rd%41'`);
  await Promise.all([changed, ...pools.map((pool) => useConnections(pool, CONNECTIONS / 2))]);
  await Promise.all(pools.map((pool) => useConnections(pool, CONNECTIONS)));
  await using after = poolOf(urlWith(NEW));
  await after.query(sql`select 1`);
  await using before = poolOf(urlWith(OLD));
  await expect(before.query(sql`select 1`)).rejects.toMatchObject({ code: '28P01' });
});

test('where the server takes neither, the statement fails with what it said', async () => {
  await using db = poolOf(urlWith('one', 'other'));
  await expect(db.query(sql`select 1`)).rejects.toMatchObject({ code: '28P01' });
});
