import { TOPICS } from '@pixmesh/contracts/topics';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { changedKeys } from './changed-keys.ts';

const TOPIC = TOPICS.chargesEvents;

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase('charges');
});
afterEach(() => database[Symbol.asyncDispose]());

test('what a process changed whose clock is six minutes behind is among the changes since a minute ago', async () => {
  await writeEvent('behind', '-6 minutes');
  await writeEvent('right', '0');
  await writeEvent('before', '-1 hour');
  const changed: string[] = [];
  const since = new Date(Date.now() - 60_000);
  for await (const keys of changedKeys(database.db, TOPIC, since)) changed.push(...keys);
  expect(changed).toEqual(['behind', 'right']);
});

/** By a clock that differs so much from the database's. */
async function writeEvent(key: string, differs: string): Promise<void> {
  await database.db.query(sql`
    insert into events (event_id, topic, key, type, message)
    values (uuidv7(${differs}::interval), ${TOPIC}, ${key}, 'x', '{}')`);
}
