import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { testInfra } from '@pixmesh/testkit/test-infra';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { migrateSchema } from './migrate.ts';

const schema = `orders_${randomBytes(4).toString('hex')}`;
const migrationsDir = mkdtempSync(path.join(tmpdir(), 'pixmesh-migrations-'));
/** A reader waits for one try of a migration, with some room for a busy machine. */
const READER_MS_MAX = 5_000;
/** The server looks every 10 s whether the job is still there. */
const KILLED_MS_MAX = 30_000;
/** A deploy job in a process of its own, with what it is to migrate as its argument. */
const DEPLOY_JOB = `
  import { migrateSchema } from '@pixmesh/postgres/migrate';
  await migrateSchema(JSON.parse(process.argv[1]));`;
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

test('a migration that waits for a table holds no reader of it up for long, and is applied once the table is free', async () => {
  writeFileSync(
    path.join(migrationsDir, '0003_note.sql'),
    'alter table orders add column note text;',
  );
  const holder = new pg.Client({ connectionString: database.adminUrl });
  await holder.connect();
  try {
    await holder.query(`begin; lock table ${schema}.orders in access share mode`);
    const migrated = migrate();
    await eventually(async () => expect(await waitingForLocks()).toBe(1));
    const startedMs = performance.now();
    await run(database.adminUrl, `select from ${schema}.orders`);
    expect(performance.now() - startedMs).toBeLessThan(READER_MS_MAX);
    await holder.query('commit');
    await migrated;
  } finally {
    await holder.end();
  }
  expect(await appliedMigrations()).toContain('0003_note');
});

test('an index whose concurrent build failed lets no migration begin until it is dropped', async () => {
  writeFileSync(
    path.join(migrationsDir, '0004_reference_index.sql'),
    'create index if not exists orders_reference on orders (reference);',
  );
  await runInSchema(`insert into orders (id, reference) values (1, 'one'), (2, 'one')`);
  const build = 'create unique index concurrently orders_reference on orders (reference)';
  await expect(runInSchema(build)).rejects.toThrow('could not create unique index');
  await expect(migrate()).rejects.toThrow(
    `drop index concurrently ${schema}.orders_reference, and build it again`,
  );
  expect(await appliedMigrations()).not.toContain('0004_reference_index');
  await runInSchema('drop index concurrently orders_reference');
  await migrate();
  expect(await appliedMigrations()).toContain('0004_reference_index');
});

test('the index of a partitioned table lets none begin until each partition has a valid one', async () => {
  await runInSchema(
    `create table parts (id int) partition by range (id);
     create table parts_1 partition of parts for values from (0) to (10);
     insert into parts (id) values (1), (1);
     create unique index parts_id on only parts (id);`,
  );
  await expect(migrate()).rejects.toThrow(
    `attach an index of each partition to ${schema}.parts_id`,
  );
  const build = 'create unique index concurrently parts_1_id on parts_1 (id)';
  await expect(runInSchema(build)).rejects.toThrow('could not create unique index');
  await runInSchema('alter index parts_id attach partition parts_1_id');
  await expect(migrate()).rejects.toThrow(
    `has not ended. reindex index concurrently ${schema}.parts_1_id`,
  );
  await runInSchema('delete from parts');
  await runInSchema('reindex index concurrently parts_1_id');
  await expect(migrate()).resolves.toBeUndefined();
});

test('databases of one server that are migrated at once do not trip over their common role', async () => {
  await using other = await createTestDatabase('charges');
  const jobs = [database.adminUrl, other.adminUrl].flatMap((url) => [migrate(url), migrate(url)]);
  await expect(Promise.all(jobs)).resolves.toHaveLength(4);
  // A role cannot be dropped while one database still gives it rights.
  await run(other.adminUrl, `drop owned by pixmesh_${schema}`);
});

test('the role logs in with its password, which a server that logs its statements never sees', async () => {
  const password = `canary '${randomBytes(8).toString('hex')}`;
  await migrate(withSetting('log_statement=ddl'), password);
  const own = withUser(testInfra().postgresServiceUrl, `pixmesh_${schema}`, password);
  expect(await run(own, 'select current_user')).toEqual([{ current_user: `pixmesh_${schema}` }]);
  const statement = `alter role "pixmesh_${schema}" password 'SCRAM-SHA-256$`;
  await eventually(() => expect(logOfPostgres()).toContain(statement));
  expect(logOfPostgres()).not.toContain(password.slice(-16));
});

test('a job that is killed leaves no statement behind that goes on with its locks', async () => {
  const endless = path.join(migrationsDir, '0005_endless.sql');
  writeFileSync(endless, 'select pg_sleep(600);');
  const args = ['--input-type=module', '-e', DEPLOY_JOB, JSON.stringify(optionsOf())];
  const job = spawn(process.execPath, args, { stdio: 'inherit' });
  await eventually(async () => expect(await sleepingSessions()).toBe(1));
  job.kill('SIGKILL');
  await eventually(async () => expect(await sleepingSessions()).toBe(0), KILLED_MS_MAX);
  rmSync(endless);
});

async function migrate(adminUrl?: string, password?: string): Promise<void> {
  await migrateSchema(optionsOf(adminUrl, password));
}

function optionsOf(adminUrl = database.adminUrl, password = 'test') {
  const mechanisms = ['outbox', 'dead-letters'] as const;
  return { adminUrl, schema, password, migrationsDir, mechanisms };
}

async function runInSchema(text: string): Promise<void> {
  await run(withSetting(`search_path=${schema}`), text);
}

function withSetting(setting: string): string {
  const url = new URL(database.adminUrl);
  url.searchParams.set('options', `-c ${setting}`);
  return url.href;
}

function withUser(serverUrl: string, user: string, password: string): string {
  const url = new URL(serverUrl);
  url.username = user;
  url.password = encodeURIComponent(password);
  return url.href;
}

function logOfPostgres(): string {
  return readFileSync(path.join(testInfra().home, 'logs', 'postgres.log'), 'utf8');
}

async function waitingForLocks(): Promise<number> {
  const rows = await run(
    database.adminUrl,
    `select count(*)::int as waiting from pg_locks
     where not granted and relation = '${schema}.orders'::regclass
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return Number(rows[0]?.['waiting']);
}

async function sleepingSessions(): Promise<number> {
  const rows = await run(
    database.adminUrl,
    `select count(*)::int as sleeping from pg_stat_activity
     where datname = current_database() and wait_event = 'PgSleep'`,
  );
  return Number(rows[0]?.['sleeping']);
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
