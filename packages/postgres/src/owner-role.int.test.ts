import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { eventually } from '@pixmesh/testkit/eventually';
import { TEST_PASSWORD, testInfra } from '@pixmesh/testkit/test-infra';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { migrateSchema } from './migrate.ts';
import { OWNER_ROLE, prepareOwner } from './owner-role.ts';

const database = `owner_${randomBytes(4).toString('hex')}`;
const schema = `wares_${randomBytes(4).toString('hex')}`;
const role = `pixmesh_${schema}`;
const migrationsDir = mkdtempSync(path.join(tmpdir(), 'pixmesh-migrations-'));
const adminUrl = urlOf(testInfra().postgresUrl);
const ownerUrl = urlOf(testInfra().postgresServiceUrl, OWNER_ROLE);
const serviceUrl = urlOf(testInfra().postgresServiceUrl, role);

/** As earlier versions have made it: a superuser ran the migrations, and everything is a superuser's. */
beforeAll(async () => {
  await run(testInfra().postgresUrl, `create database ${database}`);
  writeFileSync(
    path.join(migrationsDir, '0001_wares.sql'),
    `create type size as enum ('small');
     create type measures as (height int, width int);
     create domain reference as text check (value <> '');
     create sequence numbers;
     create table wares (id bigint generated always as identity primary key, size size);
     create view small_wares as select id from wares where size = 'small';
     create function count_wares() returns bigint language sql return (select count(*) from wares);`,
  );
  await migrate(adminUrl);
});

afterAll(async () => {
  await run(testInfra().postgresUrl, `drop database ${database} with (force)`);
  await run(testInfra().postgresUrl, `drop role ${role}`);
  rmSync(migrationsDir, { recursive: true });
});

test('a database of an earlier version becomes the owner’s, who migrates it on without being superuser', async () => {
  expect(await ownersOfObjects()).toContain('postgres');
  await prepareOwner({ adminUrl, password: TEST_PASSWORD, schemas: [schema] });
  expect(await ownersOfObjects()).toEqual([OWNER_ROLE]);
  writeFileSync(
    path.join(migrationsDir, '0002_more_wares.sql'),
    `alter table wares add column name text;
     alter table events add column remark text;
     create table boxes (id int primary key);`,
  );
  await migrate(ownerUrl);
  expect(await ownersOfObjects()).toEqual([OWNER_ROLE]);
});

test('the service goes on as before: its rights hold, also on what is new, and partitions come', async () => {
  await run(serviceUrl, `insert into wares (size, name) values ('small', 'a')`);
  await run(serviceUrl, 'insert into boxes (id) values (1)');
  expect(await run(serviceUrl, 'select count_wares()')).toEqual([{ count_wares: '1' }]);
  await run(serviceUrl, 'select ensure_event_partitions(14)');
  expect(await ownersOfObjects()).toEqual([OWNER_ROLE]);
  await expect(run(serviceUrl, 'drop table wares')).rejects.toMatchObject({ code: '42501' });
  await expect(run(serviceUrl, 'delete from events')).rejects.toMatchObject({ code: '42501' });
});

test('a server that logs its statements never sees the password of the owner', async () => {
  const url = new URL(adminUrl);
  url.searchParams.set('options', '-c log_statement=ddl');
  await prepareOwner({ adminUrl: url.href, password: TEST_PASSWORD, schemas: [schema] });
  const log = path.join(testInfra().home, 'logs', 'postgres.log');
  const statement = `alter role "${OWNER_ROLE}" login nosuperuser nocreatedb nobypassrls createrole password '`;
  await eventually(() => expect(readFileSync(log, 'utf8')).toContain(`${statement}SCRAM-SHA-256$`));
  expect(readFileSync(log, 'utf8')).not.toContain(`${statement}${TEST_PASSWORD}'`);
});

test('once more, and at once, it changes nothing', async () => {
  const before = await run(adminUrl, RIGHTS);
  const again = () => prepareOwner({ adminUrl, password: TEST_PASSWORD, schemas: [schema] });
  await Promise.all([again(), again(), migrate(ownerUrl)]);
  expect(await run(adminUrl, RIGHTS)).toEqual(before);
});

test('the owner makes roles and reaches its own databases, and nothing beyond', async () => {
  expect(
    await run(
      adminUrl,
      `select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication
       from pg_roles where rolname = '${OWNER_ROLE}'`,
    ),
  ).toEqual([
    {
      rolsuper: false,
      rolcreaterole: true,
      rolcreatedb: false,
      rolbypassrls: false,
      rolreplication: false,
    },
  ]);
  for (const forbidden of [
    'select rolpassword from pg_authid',
    `alter role postgres password 'mine'`,
    `create role a_superuser superuser`,
    `copy (select 1) to program 'true'`,
  ]) {
    await expect(run(ownerUrl, forbidden)).rejects.toMatchObject({ code: '42501' });
  }
});

const RIGHTS = `
  select relname, relacl::text from pg_class where relnamespace = '${schema}'::regnamespace order by relname`;

async function ownersOfObjects(): Promise<string[]> {
  const rows = await run(
    adminUrl,
    `select distinct owner::regrole::text as owner from (
       select relowner from pg_class where relnamespace = '${schema}'::regnamespace
       union all select proowner from pg_proc where pronamespace = '${schema}'::regnamespace
       union all select typowner from pg_type where typnamespace = '${schema}'::regnamespace
       union all select nspowner from pg_namespace where nspname = '${schema}'
       union all select datdba from pg_database where datname = current_database()
     ) as objects (owner) order by owner`,
  );
  return rows.map((row) => String(row['owner']));
}

async function migrate(url: string): Promise<void> {
  const mechanisms = ['outbox', 'dead-letters'] as const;
  await migrateSchema({
    adminUrl: url,
    schema,
    password: TEST_PASSWORD,
    migrationsDir,
    mechanisms,
  });
}

function urlOf(server: string, user?: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  if (user !== undefined) {
    url.username = user;
    url.password = TEST_PASSWORD;
  }
  return url.href;
}

async function run(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
