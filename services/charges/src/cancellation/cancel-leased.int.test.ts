import { deadlineIn } from '@pixmesh/http/deadline';
import { newId, type OperatorId, toAcquirerId } from '@pixmesh/kernel/ids';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { leaseCharge } from '#charge/charge-checks.sql.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { createChargeReceipts } from '#received/receipts.sql.ts';
import { createRecordedPix } from '#received/received-pix.sql.ts';
import type { CheckChargeDeps } from '#status-check/check-charge.ts';
import { aReceivedPix } from '#test/a-received-pix.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge } from '#test/store-charge.ts';

import { cancelCharge } from './cancel-charge.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

test('a cancellation that records a Pix leaves the lease of a check under way alone', async () => {
  const { db } = database;
  const { id } = await storeCharge(db);
  const leased = await leaseCharge(db, id, 60_000);
  if (leased === null) throw new Error('another check is under way');
  const pix = aReceivedPix({ txid: toAcquirerId(id), amountCents: leased.amount });
  const deps: Partial<CheckChargeDeps> = {
    db,
    moves: createChargeMoves(db),
    receipts: createChargeReceipts(db),
    recordedPix: createRecordedPix(db),
    logger: createLogger('charges', 'silent'),
    receiver: RECEIVER,
    wakeOutbox: () => undefined,
    wakeStatusChecks: () => undefined,
    acquirer: {
      cancelCharge: () => Promise.resolve({ kind: 'refused', code: 'x', message: 'x' }),
      getCharge: () =>
        Promise.resolve({ kind: 'found', value: { status: 'settled', received: [pix] } }),
    } as unknown as CheckChargeDeps['acquirer'],
  };
  const request = { operatorId: newId<OperatorId>(), deadline: deadlineIn(10_000) };
  await expect(cancelCharge(deps as CheckChargeDeps, id, request)).rejects.toMatchObject({
    code: 'CHARGE_NOT_PENDING',
  });
  expect(await findAnyCharge(db, id)).toMatchObject({
    acceptedE2e: pix.endToEndId,
    leaseToken: leased.leaseToken,
  });
});
