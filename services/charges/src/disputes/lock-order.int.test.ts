import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { findAnyCharge } from '#charge/charges.sql.ts';
import { aDispute } from '#test/a-dispute.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge } from '#test/store-charge.ts';

import { applyChange } from './apply-change.ts';
import { review } from './decide-infraction.ts';
import { findDispute, insertDispute } from './disputes.sql.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

/** Statements that wait for a lock. */
async function waiting(): Promise<number> {
  const rows = await database.db.query(sql`
    select from pg_locks
    where not granted and pid in (select pid from pg_stat_activity where datname = current_database())`);
  return rows.length;
}

test('a change of a dispute that waits for its charge holds no lock of the dispute', async () => {
  const { db } = database;
  const { id: chargeId, accountId } = await storeCharge(db, { status: 'infraction' });
  const { id, ...rest } = aDispute({ chargeId, accountId, endToEndId: `E${newId()}` });
  await insertDispute(db, { id, ...rest });
  const [charge, dispute] = [await findAnyCharge(db, chargeId), await findDispute(db, id)];
  if (charge === null || dispute === null) throw new Error('nothing is stored');
  const deps = { db, receiver: RECEIVER, wakeOutbox: () => undefined };
  const changing = await db.transaction(async (tx) => {
    await tx.query(sql`select from charges where id = ${chargeId} for update`);
    const change = applyChange(deps, { dispute, charge, isNew: false }, review(charge));
    await eventually(async () => expect(await waiting()).toBeGreaterThan(0));
    const free = await tx.query(sql`select from disputes where id = ${id} for update skip locked`);
    expect(free).toHaveLength(1);
    return { change };
  });
  expect(await changing.change).toBe(true);
});
