import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { requestCheck } from '#charge/charge-checks.sql.ts';
import type { ChargeRow } from '#charge/charge-row.ts';
import { aLeasedCharge } from '#test/a-leased-charge.ts';
import { aReceivedPix } from '#test/a-received-pix.ts';

import { type ChargeReceipts, createChargeReceipts } from './receipts.sql.ts';

/** The record of a Pix ends the check that found it, and records that come together stand or fall each by itself. */

let database: TestDatabase;
let receipts: ChargeReceipts;
beforeAll(async () => {
  database = await createTestDatabase('charges');
  receipts = createChargeReceipts(database.db);
});
afterAll(() => database[Symbol.asyncDispose]());

async function record(
  charge: ChargeRow,
  { endToEndId = `E${newId()}`, endedLease }: { endToEndId?: string; endedLease?: string } = {},
): Promise<boolean> {
  return await receipts.submit({
    charge,
    pix: aReceivedPix({ endToEndId }),
    disposition: { kind: 'credit' },
    traceparent: null,
    ...(endedLease === undefined ? {} : { endedLease }),
  });
}

async function stateOf({ id }: ChargeRow) {
  const [row] = await database.db.query(sql`
    select
      version, accepted_e2e is not null as is_accepted, lease_token is not null as is_leased,
      check_at = '-infinity' as is_requested, last_check_answer as answer,
      (select count(*)::int from received_pix where charge_id = charges.id) as recorded,
      (select count(*)::int from unanswered_commands where event_id in (
        select event_id from events where message -> 'data' ->> 'charge_id' = charges.id::text
      )) as commands,
      (select count(*)::int from charge_history where charge_id = charges.id) as lines
    from charges where id = ${id}`);
  return row;
}

const RECORDED = { version: 1, is_accepted: true, recorded: 1, commands: 1, lines: 1 };

test('a record that is the last of its check ends the lease, and no other check is due', async () => {
  const charge = await aLeasedCharge(database.db);
  expect(await record(charge, { endedLease: charge.leaseToken ?? '' })).toBe(true);
  const ended = { is_leased: false, is_requested: null, answer: 'found' };
  expect(await stateOf(charge)).toEqual({ ...RECORDED, ...ended });
});

test('a record that is not the last leaves the lease to its check', async () => {
  const charge = await aLeasedCharge(database.db);
  expect(await record(charge)).toBe(true);
  expect(await stateOf(charge)).toMatchObject({ ...RECORDED, is_leased: true, answer: null });
});

test('the lease of another check, which took over, stays', async () => {
  const charge = await aLeasedCharge(database.db);
  expect(await record(charge, { endedLease: newId() })).toBe(true);
  expect(await stateOf(charge)).toMatchObject({ ...RECORDED, is_leased: true, answer: null });
});

test('a check that was requested meanwhile is still to come', async () => {
  const charge = await aLeasedCharge(database.db);
  await requestCheck(database.db, charge.id, null);
  expect(await record(charge, { endedLease: charge.leaseToken ?? '' })).toBe(true);
  expect(await stateOf(charge)).toMatchObject({ is_leased: false, is_requested: true });
});

test('of records that come together each is written with its own charge; one that has moved leaves nothing behind', async () => {
  const charges = await Promise.all(Array.from({ length: 20 }, () => aLeasedCharge(database.db)));
  const moved = { ...(await aLeasedCharge(database.db)), version: 7 };
  const written = await Promise.all([...charges, moved].map((charge) => record(charge)));
  expect(written).toEqual([...charges.map(() => true), false]);
  for (const charge of charges) expect(await stateOf(charge)).toMatchObject(RECORDED);
  const untouched = { version: 0, recorded: 0, commands: 0, lines: 0 };
  expect(await stateOf(moved)).toMatchObject(untouched);
});

test('of two charges that are to record one Pix at once, one does, and the other is refused alone', async () => {
  const charges = await Promise.all(Array.from({ length: 3 }, () => aLeasedCharge(database.db)));
  const endToEndId = `E${newId()}`;
  const outcomes = await Promise.allSettled(
    charges.map((charge, index) => record(charge, index === 0 ? {} : { endToEndId })),
  );
  expect(outcomes[0]).toMatchObject({ status: 'fulfilled', value: true });
  expect(
    await database.db.query(sql`select from received_pix where end_to_end_id = ${endToEndId}`),
  ).toHaveLength(1);
  const recorded = outcomes.filter(({ status }) => status === 'fulfilled');
  expect(recorded.length).toBeGreaterThanOrEqual(2);
});
