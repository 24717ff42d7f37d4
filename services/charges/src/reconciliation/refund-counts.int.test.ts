import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { fillCharges } from '#test/store-charge.ts';

import { refundCheck } from './refund-check.ts';

/** More than two pages of charges. */
const CHARGES = 2_100;
const PER_PAGE = 1_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
  await fillCharges(database.db, { accountId: newId(), rows: CHARGES, spacingSeconds: 60 });
  await database.db.query(sql`update charges set end_to_end_id = 'E' || id, refunded_amount = 100`);
  await database.db.query(sql`
    insert into pix_returns (end_to_end_id, return_id, charge_id, amount, nature, disposition)
    select end_to_end_id, 'r' || part, id, 50, 'ORIGINAL', 'returned'
    from charges, generate_series(1, 2) as part`);
});
afterAll(() => database[Symbol.asyncDispose]());

/** A full run; answers the ids of its breaks, and how many charges each of its statements added up. */
async function compareAll(): Promise<{ ids: string[]; added: number[] }> {
  const added: number[] = [];
  const { db } = database;
  const watched: Database = {
    ...db,
    query: async (statement) => {
      if (statement.name === 'find_miscounted_refunds') {
        const charges = statement.values.find((value) => Array.isArray(value));
        added.push(charges?.length ?? 0);
      }
      return await db.query(statement);
    },
  };
  const { breaks } = await refundCheck({
    db: watched,
    ledger: {
      findJournals: async () => await Promise.resolve(new Map()),
      listOpenHolds: async () => await Promise.resolve(new Map()),
    },
    acquirer: { getRefund: () => Promise.resolve({ kind: 'not_found' }) },
  }).run({ since: null, knownIds: [], signal: AbortSignal.timeout(60_000) });
  return { ids: breaks.map(({ kind, id }) => `${kind} ${id}`), added };
}

test('a full run compares what every charge counts as refunded, a page of charges in each statement', async () => {
  const first = await compareAll();
  expect(first.ids).toEqual([]);
  expect(first.added).toEqual([PER_PAGE, PER_PAGE, CHARGES - 2 * PER_PAGE]);
  const wrong = await database.db.query<{ id: string }>(sql`
    update charges set refunded_amount = 101
    where id in (select id from charges order by id limit 1)
      or id in (select id from charges order by id desc limit 1)
    returning id`);
  const { ids } = await compareAll();
  expect(ids.toSorted()).toEqual(wrong.map(({ id }) => `sum ${id}`).toSorted());
});
