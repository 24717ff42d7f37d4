import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { ChargeRow } from '#charge/charge-row.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { createChargeReceipts } from '#received/receipts.sql.ts';
import { createRecordedPix } from '#received/received-pix.sql.ts';
import { aLeasedCharge } from '#test/a-leased-charge.ts';
import { aReceivedPix } from '#test/a-received-pix.ts';
import { RECEIVER } from '#test/charges-under-test.ts';

import { applyProviderState, type ApplyStateDeps } from './apply-provider-state.ts';

/** The first Pix of a charge is recorded without a look at what is recorded: the record decides. */

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

/** Checks a charge that the acquirer shows paid by one Pix; answers the outcome and the reads of records it took. */
async function check(charge: ChargeRow, endToEndId: string) {
  const { db } = database;
  let reads = 0;
  const recordedPix = createRecordedPix({
    query: (statement) => {
      reads += 1;
      return db.query(statement);
    },
  });
  const deps: ApplyStateDeps = {
    db,
    moves: createChargeMoves(db),
    receipts: createChargeReceipts(db),
    recordedPix,
    logger: createLogger('charges', 'silent'),
    receiver: RECEIVER,
    wakeOutbox: () => undefined,
    acquirer: {
      cancelCharge: async () => await Promise.resolve({ kind: 'not_found' }),
      listDisputes: async () => await Promise.resolve({ kind: 'unknown', cause: 'not asked here' }),
    },
  };
  const pix = aReceivedPix({ endToEndId, amountCents: charge.amount });
  const state = { txid: toAcquirerId(charge.id), status: 'settled' as const, received: [pix] };
  return { outcome: await applyProviderState(deps, charge, state), reads };
}

async function recordsOf(endToEndId: string) {
  const rows = await database.db.query<{ chargeId: string | null }>(sql`
    select charge_id as "chargeId" from received_pix where end_to_end_id = ${endToEndId}`);
  return rows.map(({ chargeId }) => chargeId);
}

test('the first Pix of a charge is recorded without a read, and ends the check', async () => {
  const charge = await aLeasedCharge(database.db);
  const endToEndId = `E${newId()}`;
  expect(await check(charge, endToEndId)).toEqual({ outcome: 'ended', reads: 0 });
  expect(await recordsOf(endToEndId)).toEqual([charge.id]);
});

test('one that another charge holds already is refused, read, and left where it is', async () => {
  const [first, second] = [await aLeasedCharge(database.db), await aLeasedCharge(database.db)];
  const endToEndId = `E${newId()}`;
  await check(first, endToEndId);
  expect(await check(second, endToEndId)).toEqual({ outcome: 'unpaid', reads: 1 });
  expect(await recordsOf(endToEndId)).toEqual([first.id]);
});

test('a charge that another check paid meanwhile is found moved or at rest, and nothing is recorded twice', async () => {
  const charge = await aLeasedCharge(database.db);
  const endToEndId = `E${newId()}`;
  const outcomes = await Promise.all([check(charge, endToEndId), check(charge, endToEndId)]);
  expect(outcomes.filter(({ outcome }) => outcome === 'ended')).toHaveLength(1);
  expect(await recordsOf(endToEndId)).toEqual([charge.id]);
});
