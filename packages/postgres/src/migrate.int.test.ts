import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { migrateSchema } from './migrate.ts';

const schema = `orders_${randomBytes(4).toString('hex')}`;
const migrationsDir = mkdtempSync(path.join(tmpdir(), 'pixmesh-migrations-'));
let database: TestDatabase;

beforeAll(async () => {
  writeFileSync(
    path.join(migrationsDir, '0001_orders.sql'),
    'create table orders (id int primary key);',
  );
  database = await createTestDatabase('charges');
});

afterAll(async () => {
  await run(database.adminUrl, `drop owned by pixmesh_${schema}; drop role pixmesh_${schema}`);
  await database[Symbol.asyncDispose]();
  rmSync(migrationsDir, { recursive: true });
});

test('deploy jobs that run at once, and again, migrate once', async () => {
  await Promise.all([migrate(), migrate(), migrate()]);
  await migrate();
  expect(await appliedMigrations()).toEqual(['0001_orders']);
});

test('a new migration is applied to what is there', async () => {
  writeFileSync(
    path.join(migrationsDir, '0002_reference.sql'),
    'alter table orders add column reference text;',
  );
  await migrate();
  expect(await appliedMigrations()).toEqual(['0001_orders', '0002_reference']);
});

test('a migration that fails leaves neither a table nor a record of itself', async () => {
  const broken = path.join(migrationsDir, '0003_broken.sql');
  writeFileSync(broken, 'create table half (id int); select nonsense;');
  await expect(migrate()).rejects.toThrow('nonsense');
  rmSync(broken);
  expect(await appliedMigrations()).toEqual(['0001_orders', '0002_reference']);
  expect(await run(database.adminUrl, `select to_regclass('${schema}.half') as found`)).toEqual([
    { found: null },
  ]);
});

test('databases of one server that are migrated at once do not trip over their common role', async () => {
  await using other = await createTestDatabase('charges');
  const jobs = [database.adminUrl, other.adminUrl].flatMap((url) => [migrate(url), migrate(url)]);
  await expect(Promise.all(jobs)).resolves.toHaveLength(4);
  // A role cannot be dropped while one database still gives it rights.
  await run(other.adminUrl, `drop owned by pixmesh_${schema}`);
});

async function migrate(adminUrl = database.adminUrl): Promise<void> {
  const mechanisms = ['outbox', 'dead-letters'] as const;
  await migrateSchema({ adminUrl, schema, password: 'test', migrationsDir, mechanisms });
}

async function appliedMigrations(): Promise<string[]> {
  const rows = await run(database.adminUrl, `select name from ${schema}.migrations order by id`);
  return rows.map((row) => String(row['name']));
}

async function run(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const result = await client.query<Record<string, unknown>>(text);
    return result.rows;
  } finally {
    await client.end();
  }
}
