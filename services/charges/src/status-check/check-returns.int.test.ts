import type { AcquirerDispute, PixReturn, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { type ChargeId, newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { applyInfraction } from '#disputes/apply-infraction.ts';
import { findByInfraction } from '#disputes/disputes.sql.ts';
import { createChargeReceipts } from '#received/receipts.sql.ts';
import { createRecordedPix } from '#received/received-pix.sql.ts';
import { anInfraction } from '#test/a-dispute.ts';
import { aPixReturn, aReceivedPix } from '#test/a-received-pix.ts';
import { RECEIVER } from '#test/charges-under-test.ts';
import { storeCharge } from '#test/store-charge.ts';

import { applyReturns, checkReturns } from './check-returns.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

/** A paid charge with its Pix. */
async function aPaidCharge() {
  const endToEndId = 'E' + crypto.randomUUID();
  const { id } = await storeCharge(database.db, { status: 'paid', acceptedE2e: endToEndId });
  await database.db.query(sql`
    with pix as (
      insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
      select ${endToEndId}, id, account_id, amount, now(), 'credit' from charges where id = ${id}
      returning charge_id
    )
    update charges set end_to_end_id = accepted_e2e from pix where id = charge_id`);
  return { ...(await read(id)), endToEndId };
}

async function read(id: ChargeId): Promise<ChargeRow> {
  const charge = await findAnyCharge(database.db, id);
  if (charge === null) throw new Error('no such charge');
  return charge;
}

/** What checks of `shown` need; `meanwhile` happens while the acquirer is asked for it. */
function depsOf(shown: ReceivedPix, meanwhile: () => Promise<unknown> = () => Promise.resolve()) {
  return {
    db: database.db,
    moves: createChargeMoves(database.db),
    receipts: createChargeReceipts(database.db),
    recordedPix: createRecordedPix(database.db),
    logger: createLogger('charges', 'silent'),
    receiver: RECEIVER,
    wakeOutbox: () => undefined,
    acquirer: {
      cancelCharge: () => Promise.resolve({ kind: 'not_found' as const }),
      listDisputes: () => Promise.resolve({ kind: 'unknown' as const, cause: 'not asked here' }),
      getReceived: async () => {
        await meanwhile();
        return { kind: 'found' as const, value: shown };
      },
    },
  };
}

/** Checks the one return of a paid charge; `meanwhile` happens while the acquirer is asked. */
async function check(
  meanwhile: (id: string) => Promise<unknown>,
  changes: Partial<PixReturn> = {},
): Promise<boolean> {
  const charge = await aPaidCharge();
  const { endToEndId } = charge;
  const returned = aPixReturn({ nature: 'MED_FRAUDE', amountCents: charge.amount, ...changes });
  const pix = aReceivedPix({ endToEndId, amountCents: charge.amount, returns: [returned] });
  const deps = depsOf(pix, () => meanwhile(charge.id));
  return await checkReturns(deps, charge, endToEndId);
}

test('what a Pix returned is known once it is booked', async () => {
  expect(await check(() => Promise.resolve())).toBe(true);
});

test('and is not while the acquirer shows one under way: the block of a lost dispute has to wait for it', async () => {
  const charge = await aPaidCharge();
  const { endToEndId, amount } = charge;
  const part = { nature: 'MED_FRAUDE', amountCents: toCents(6_000) };
  const done = aPixReturn(part);
  const other = { ...part, id: 'return2', returnId: null, settledAt: null };
  const underWay = aPixReturn({ ...other, status: 'processing' });
  const shown = (returns: PixReturn[]) =>
    aReceivedPix({ endToEndId, amountCents: amount, returns });
  expect(await checkReturns(depsOf(shown([done, underWay])), charge, endToEndId)).toBe(false);
  const failed = { ...underWay, status: 'failed' } as const;
  const deps = depsOf(shown([done, failed]));
  expect(await checkReturns(deps, await read(charge.id), endToEndId)).toBe(true);
});

test('and is not while the charge moved in between, so that no event shows too little', async () => {
  const move = (id: string) =>
    database.db.query(sql`update charges set version = version + 1 where id = ${id}`);
  expect(await check(move)).toBe(false);
});

test('a notice of a Pix waits for no return that is under way, once all others are booked', async () => {
  const charge = await aPaidCharge();
  const { endToEndId, amount: amountCents } = charge;
  const part = { nature: 'MED_FRAUDE', amountCents: toCents(6_000) };
  const later = { ...part, id: 'return2', returnId: null, settledAt: null } as const;
  const returns = [aPixReturn(part), aPixReturn({ ...later, status: 'processing' })];
  const pix = aReceivedPix({ endToEndId, amountCents, returns });
  expect(await applyReturns(depsOf(pix), charge, pix)).toBe(true);
  expect(await read(charge.id)).toMatchObject({ status: 'charged_back' });
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

test('a return after a won dispute waits for its nature, and charges back with its amount when the dispute is lost', async () => {
  const { id, endToEndId, amount } = await aPaidCharge();
  const won = anInfraction({ endToEndId, amountCents: amount, status: 'rejected' });
  const lost = { ...won, status: 'accepted' as const, decidedAt: new Date() };
  const returned = aPixReturn({ amountCents: amount, nature: null, settledAt: new Date() });
  const unnamed = aReceivedPix({ endToEndId, amountCents: amount, returns: [returned] });
  const named = { ...unnamed, returns: [{ ...returned, nature: 'MED_FRAUDE' }] };
  const apply = async (seen: AcquirerDispute, shown: ReceivedPix) => {
    const deps = depsOf(shown);
    return await applyInfraction(
      {
        ...deps,
        returnWindowMs: 3_600_000,
        checkReturns: (charge, pix) => checkReturns(deps, charge, pix),
        noticePix: () => Promise.resolve(),
      },
      seen,
    );
  };
  expect(await apply(won, unnamed)).toBe('done');
  expect(await applyReturns(depsOf(unnamed), await read(id), unnamed)).toBe(false);
  expect(await read(id)).toMatchObject({ status: 'paid', refundedAmount: 0n });
  // The list may say so before the nature shows.
  expect(await apply(lost, unnamed)).toBe('waiting');
  expect(await apply(lost, named)).toBe('done');
  expect(await read(id)).toMatchObject({ status: 'charged_back', refundedAmount: 0n });
  expect(await findByInfraction(database.db, won.id)).toMatchObject({
    status: 'lost',
    returnedAmount: amount,
  });
});
