import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { findAnyCharge } from '#charge/charges.sql.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { createChargeReceipts } from '#received/receipts.sql.ts';
import { aPixReturn, aReceivedPix } from '#test/a-received-pix.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge } from '#test/store-charge.ts';

import { checkReturns } from './check-returns.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

/** Checks the one return of a paid charge; `meanwhile` happens while the acquirer is asked. */
async function check(meanwhile: (id: string) => Promise<unknown>): Promise<boolean> {
  const endToEndId = 'E' + crypto.randomUUID();
  const { id } = await storeCharge(database.db, { status: 'paid', acceptedE2e: endToEndId });
  const charge = await findAnyCharge(database.db, id);
  if (charge === null) throw new Error('no such charge');
  await database.db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
    select ${endToEndId}, id, account_id, amount, now(), 'credit' from charges where id = ${id}`);
  const returned = aPixReturn({ nature: 'MED_FRAUDE', amountCents: charge.amount });
  const pix = aReceivedPix({ endToEndId, amountCents: charge.amount, returns: [returned] });
  return await checkReturns(
    {
      db: database.db,
      moves: createChargeMoves(database.db),
      receipts: createChargeReceipts(database.db),
      logger: createLogger('charges', 'silent'),
      receiver: RECEIVER,
      wakeOutbox: () => undefined,
      acquirer: {
        cancelCharge: () => Promise.resolve({ kind: 'not_found' }),
        listDisputes: () => Promise.resolve({ kind: 'unknown', cause: 'not asked here' }),
        getReceived: async () => {
          await meanwhile(id);
          return { kind: 'found', value: pix };
        },
      },
    },
    { ...charge, endToEndId },
    endToEndId,
  );
}

test('what a Pix returned is known once it is booked', async () => {
  expect(await check(() => Promise.resolve())).toBe(true);
});

test('and is not while the charge moved in between, so that no event shows too little', async () => {
  const move = (id: string) =>
    database.db.query(sql`update charges set version = version + 1 where id = ${id}`);
  expect(await check(move)).toBe(false);
});
