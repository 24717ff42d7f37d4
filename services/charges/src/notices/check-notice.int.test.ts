import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findAnyCharge } from '#charge/charges.sql.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { createChargeReceipts } from '#received/receipts.sql.ts';
import { createRecordedPix } from '#received/received-pix.sql.ts';
import { aPixReturn, aReceivedPix } from '#test/a-received-pix.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge, type StoredCharge } from '#test/store-charge.ts';

import { checkNotice } from './check-notice.ts';
import { leaseDueNotices, noticePix } from './pix-notices.sql.ts';

const LEASE_MS = 60_000;
/** Of every charge that `storeCharge` stores. */
const AMOUNT = 12_345;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

/** Checks the notice of a Pix so often; the acquirer shows the Pix by its end-to-end id alone. */
async function check(pix: ReceivedPix, times = 1): Promise<void> {
  const { db } = database;
  for (let made = 0; made < times; made += 1) {
    await noticePix(db, [pix.endToEndId], { notFoundMs: 0 });
    const [notice] = await leaseDueNotices(db, 'requested', { limit: 1, leaseMs: LEASE_MS });
    if (!notice) throw new Error('the notice is not due');
    await checkNotice(
      {
        db,
        moves: createChargeMoves(db),
        receipts: createChargeReceipts(db),
        recordedPix: createRecordedPix(db),
        logger: createLogger('charges', 'silent'),
        receiver: RECEIVER,
        pixKey: 'key',
        processingChecks: { firstMs: LEASE_MS, maxMs: LEASE_MS },
        wakeOutbox: () => undefined,
        wakeStatusChecks: () => undefined,
        acquirer: {
          cancelCharge: () => Promise.resolve({ kind: 'not_found' }),
          listDisputes: () => Promise.resolve({ kind: 'unknown', cause: 'not asked here' }),
          getReceived: () => Promise.resolve({ kind: 'found', value: pix }),
        },
      },
      notice,
    );
  }
}

function aPixFor(charge: StoredCharge, changes: Partial<ReceivedPix> = {}): ReceivedPix {
  return aReceivedPix({ endToEndId: `E${newId()}`, txid: toAcquirerId(charge.id), ...changes });
}

async function record(
  charge: StoredCharge,
  { endToEndId, amountCents }: ReceivedPix,
  disposition: 'credit' | 'suspense',
): Promise<void> {
  await database.db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition, reason)
    values (
      ${endToEndId}, ${charge.id}, ${charge.accountId}, ${amountCents}, now(), ${disposition},
      ${disposition === 'credit' ? null : 'second_pix'}
    )`);
}

describe('a Pix of a charge that cannot be adopted', () => {
  const CHECKS = 4;

  async function recordedOf({ endToEndId }: ReceivedPix) {
    return await database.db.query(
      sql`select reason from received_pix where end_to_end_id = ${endToEndId}`,
    );
  }

  test('goes to suspense where it has another amount, once its charge was checked a few times', async () => {
    const charge = await storeCharge(database.db, { status: 'processing' });
    const pix = aPixFor(charge, { amountCents: toCents(AMOUNT + 1) });
    await check(pix, CHECKS - 1);
    expect(await recordedOf(pix)).toEqual([]);
    await check(pix);
    expect(await recordedOf(pix)).toEqual([{ reason: 'amount_mismatch' }]);
    expect(await findAnyCharge(database.db, charge.id)).toMatchObject({
      status: 'processing',
      acceptedE2e: null,
    });
    // Its return is booked, too, however long the charge stays so.
    await check({ ...pix, returns: [aPixReturn({ amountCents: pix.amountCents })] });
    expect(
      await database.db.query(
        sql`select disposition from pix_returns where end_to_end_id = ${pix.endToEndId}`,
      ),
    ).toEqual([{ disposition: 'suspense' }]);
  });

  test('waits for the charge where it would pay it', async () => {
    const pix = aPixFor(await storeCharge(database.db, { status: 'processing' }));
    await check(pix, CHECKS + 1);
    expect(await recordedOf(pix)).toEqual([]);
  });
});

describe('a return of a Pix that the acquirer does not show with its charge', () => {
  async function bookedReturns(endToEndId: string) {
    return await database.db.query<{ disposition: string; amount: bigint }>(sql`
      select disposition, amount from pix_returns where end_to_end_id = ${endToEndId} order by return_id`);
  }

  test('is taken from its item, where the Pix is in suspense', async () => {
    const charge = await storeCharge(database.db, { status: 'paid', acceptedE2e: 'E-first' });
    const part = aPixReturn({ id: 'part', amountCents: toCents(345) });
    const rest = aPixReturn({ id: 'rest', amountCents: toCents(12_000) });
    const pix = aPixFor(charge, { returns: [part] });
    await record(charge, pix, 'suspense');
    await check(pix);
    expect(await bookedReturns(pix.endToEndId)).toEqual([
      { disposition: 'suspense_part', amount: 345n },
    ]);
    await check({ ...pix, returns: [part, rest] });
    expect(await bookedReturns(pix.endToEndId)).toHaveLength(2);
    expect((await findAnyCharge(database.db, charge.id))?.status).toBe('paid');
  });

  test('moves the charge that the Pix paid', async () => {
    const endToEndId = `E${newId()}`;
    const charge = await storeCharge(database.db, { status: 'paid', acceptedE2e: endToEndId });
    await database.db.query(
      sql`update charges set end_to_end_id = ${endToEndId} where id = ${charge.id}`,
    );
    const returned = aPixReturn({ amountCents: toCents(AMOUNT) });
    const pix = aPixFor(charge, { endToEndId, returns: [returned] });
    await record(charge, pix, 'credit');
    await check(pix);
    expect((await findAnyCharge(database.db, charge.id))?.status).toBe('refunded');
    expect(await bookedReturns(endToEndId)).toMatchObject([{ disposition: 'returned' }]);
  });
});
