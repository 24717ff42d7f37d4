import type { PixReturn } from '@pixmesh/acquirer/client';
import { newId } from '@pixmesh/kernel/ids';
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
async function check(
  meanwhile: (id: string) => Promise<unknown>,
  changes: Partial<PixReturn> = {},
): Promise<boolean> {
  const endToEndId = 'E' + crypto.randomUUID();
  const { id } = await storeCharge(database.db, { status: 'paid', acceptedE2e: endToEndId });
  const charge = await findAnyCharge(database.db, id);
  if (charge === null) throw new Error('no such charge');
  await database.db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
    select ${endToEndId}, id, account_id, amount, now(), 'credit' from charges where id = ${id}`);
  const returned = aPixReturn({ nature: 'MED_FRAUDE', amountCents: charge.amount, ...changes });
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

test('a return without a nature of a disputed Pix is not known yet, and is one under the MED in the end', async () => {
  const returnedAs = async (settledAt: Date) => {
    let chargeId = '';
    const dispute = async (id: string) => {
      chargeId = id;
      await database.db.query(sql`
        insert into disputes (
          id, infraction_id, charge_id, account_id, end_to_end_id, amount, status, reason, arrived_resolved, opened_at,
          defense_deadline_at, acquirer_status, block
        )
        select ${newId()}, ${newId()}, id, account_id, accepted_e2e, amount, 'open', 'SCAM', false, now(), now(),
          'open', 'standing'
        from charges where id = ${id}`);
    };
    const isKnown = await check(dispute, { nature: null, settledAt });
    const returns = await database.db.query(
      sql`select disposition, nature from pix_returns where charge_id = ${chargeId}`,
    );
    return [isKnown, ...returns];
  };
  expect(await returnedAs(new Date())).toEqual([false]);
  // A dispute that is first seen lost is stored when its returns are known, and not before.
  expect(await check(() => Promise.resolve(), { nature: null, settledAt: new Date() })).toBe(false);
  const longAgo = new Date(Date.now() - 3_600_000);
  expect(await returnedAs(longAgo)).toEqual([true, { disposition: 'med', nature: null }]);
});
