import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { storeDuePayouts } from '#test/store-due-payouts.ts';

import { DUE_WORK } from './due-work.sql.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase('payouts');
});
afterEach(() => database[Symbol.asyncDispose]());

async function readDue(): Promise<string[]> {
  const names: string[] = [];
  for (const [name, isDue] of Object.entries(DUE_WORK)) {
    const [row] = await database.db.query<{ due: boolean | null }>(sql`select ${isDue} as due`);
    if (row?.due) names.push(name);
  }
  return names;
}

test('of a new installation nothing is due', async () => {
  expect(await readDue()).toEqual([]);
});

test('a payout that may be sent wakes the sender, one that is to be sent later does not', async () => {
  await storeDuePayouts(database.db, 1, { sendInMs: 60_000 });
  expect(await readDue()).toEqual([]);
  await storeDuePayouts(database.db, 1);
  expect(await readDue()).toEqual(['sender']);
});

test('a payout whose check was requested and a list that is due wake their jobs', async () => {
  const [id = ''] = await storeDuePayouts(database.db, 1, { sendInMs: 60_000 });
  await database.db.query(sql`update payouts set check_at = '-infinity' where id = ${id}`);
  await database.db.query(sql`insert into acquirer_lists (name) values ('sent')`);
  expect(await readDue()).toEqual(['statusChecks', 'lists']);
});
