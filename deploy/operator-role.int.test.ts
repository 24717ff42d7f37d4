import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { TEST_PASSWORD } from '@pixmesh/testkit/test-infra';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Roles belong to the server that all tests share. */
const ROLE = `pixmesh_operator_${randomBytes(4).toString('hex')}`;
const CREATE_ROLE = statementOf('databases.md', 'create role pixmesh_operator');
const FIND_LOCKING = statementOf('on-call.md', 'select pid, usename');

let database: TestDatabase;
let superuser: pg.Client;
let operator: pg.Client;
let service: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase('charges');
  superuser = await connect(database.adminUrl);
  await superuser.query(CREATE_ROLE.replace('pixmesh_operator', ROLE));
  await superuser.query(`alter role ${ROLE} password '${TEST_PASSWORD}'`);
  const url = new URL(database.url);
  url.username = ROLE;
  operator = await connect(url.href);
  service = await connect(database.url);
});
afterAll(async () => {
  await operator.end();
  await superuser.query(`drop role ${ROLE}`);
  await superuser.end();
  await database[Symbol.asyncDispose]();
});

test('the role of the guide finds a session of a service that holds locks, and ends it', async () => {
  const pid = await pidOf(service);
  await service.query('begin; lock table charges in share mode');
  const { rows } = await operator.query(FIND_LOCKING.replace("'15 s'", "'0 s'"));
  expect(rows).toContainEqual(
    expect.objectContaining({
      pid,
      usename: 'pixmesh_charges',
      query: 'begin; lock table charges in share mode',
    }),
  );
  const errors: unknown[] = [];
  service.on('error', (error) => errors.push(error));
  const ended = new Promise((resolve) => service.once('end', resolve));
  await operator.query('select pg_terminate_backend($1)', [pid]);
  await ended;
  expect(errors[0]).toMatchObject({ code: '57P01' });
});

test('it reads every table, and changes nothing', async () => {
  const { rows } = await operator.query('select count(*) from charges.charges');
  expect(rows).toEqual([{ count: '0' }]);
  const change = operator.query('delete from charges.charges');
  await expect(change).rejects.toMatchObject({ code: '42501' });
});

test('it does not end the session of a superuser', async () => {
  const end = operator.query('select pg_terminate_backend($1)', [await pidOf(superuser)]);
  await expect(end).rejects.toMatchObject({ code: '42501' });
});

/** The one block of SQL in a guide that begins so. */
function statementOf(guide: string, beginning: string): string {
  const text = readFileSync(new URL(`../docs/guides/${guide}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/```sql\n(.*?)```/gs)].map(([, block = '']) => block.trim());
  const [found, ...more] = blocks.filter((block) => block.startsWith(beginning));
  expect({ guide, beginning, found: found !== undefined, more }).toMatchObject({
    found: true,
    more: [],
  });
  return found ?? '';
}

async function pidOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}
