import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { storeCharge } from '#test/store-charge.ts';

import { DUE_WORK } from './due-work.sql.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase('charges');
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

async function putListsOff(): Promise<void> {
  await database.db.query(sql`update dispute_list set check_at = now() + interval '1 hour'`);
  await database.db.query(sql`update acquirer_lists set check_at = now() + interval '1 hour'`);
}

test('of a new installation the lists are due, and nothing else', async () => {
  expect(await readDue()).toEqual(['lists', 'disputeList']);
});

test('a charge whose check is due wakes status checks, one whose check is to come does not', async () => {
  const { id } = await storeCharge(database.db);
  await putListsOff();
  await database.db.query(sql`update charges set check_at = now() + interval '1 hour'`);
  expect(await readDue()).toEqual([]);
  await database.db.query(sql`update charges set check_at = '-infinity' where id = ${id}`);
  expect(await readDue()).toEqual(['statusChecks']);
});

test('a list that is due and a Pix that was announced wake their jobs', async () => {
  await putListsOff();
  await database.db.query(sql`update acquirer_lists set check_at = now() - interval '1 second'`);
  await database.db.query(sql`
    insert into pix_notices (end_to_end_id, check_at) values ('E1', now() - interval '1 second')`);
  expect(await readDue()).toEqual(['notices', 'lists']);
});
