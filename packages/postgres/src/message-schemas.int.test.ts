import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { loadMessageSchemas, type MessageSchema, storeMessageSchemas } from './message-schemas.ts';
import { createPool, type Database } from './pool.ts';
import { sql } from './sql.ts';

let database: TestDatabase;
let admin: Database;

beforeAll(async () => {
  database = await createTestDatabase('charges');
  const url = `${database.adminUrl}?options=-c%20search_path%3Dcharges`;
  admin = createPool({ url, applicationName: 'message-schemas', max: 4 });
});

beforeEach(async () => {
  await admin.query(sql`delete from message_schemas`);
});

afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const deploy = (...schemas: MessageSchema[]) =>
  admin.transaction((tx) => storeMessageSchemas(tx, schemas));

async function stored(): Promise<MessageSchema[]> {
  const schemas = await loadMessageSchemas(database.db);
  return schemas.toSorted((a, b) => a.id - b.id);
}

const a1 = { subject: 'topic-a', id: 1, text: '{"a":1}' };
const a2 = { subject: 'topic-a', id: 2, text: '{"a":2}' };
const b3 = { subject: 'topic-b', id: 3, text: '{"b":1}' };

test('what a deploy job stores, the service reads; former versions stay', async () => {
  await deploy(a1, b3);
  await deploy(a2, b3);
  expect(await stored()).toEqual([a1, a2, b3]);
});

test('deploy jobs at once store everything once', async () => {
  await Promise.all(Array.from({ length: 4 }, () => deploy(a1, a2, b3)));
  expect(await stored()).toEqual([a1, a2, b3]);
});

test('of a registry that was built anew only its own ids stay', async () => {
  await deploy(a1, b3);
  await deploy(a2, b3);
  const [newA, newB] = [
    { ...a2, id: 1 },
    { ...b3, id: 2 },
  ];
  await deploy(newA, newB);
  expect(await stored()).toEqual([newA, newB]);
});

test('two subjects may share one text and so one id', async () => {
  const same = { ...a1, subject: 'topic-c' };
  await deploy(a1, same);
  expect(await stored()).toEqual([a1, same]);
});

test.each([
  ['add', sql`insert into message_schemas values ('topic-a', 9, '{}')`],
  ['change', sql`update message_schemas set schema = '{}'`],
  ['delete', sql`delete from message_schemas`],
])('the role of a service cannot %s one', async (_what, statement) => {
  await expect(database.db.query(statement)).rejects.toMatchObject({ code: '42501' });
});
