import { type ChargeId, newId } from '@pixmesh/kernel/ids';
import { createNamedChecks, type NamedChecks } from '@pixmesh/postgres/named-checks';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import type { LeasedCharge, StoredStatus } from '#charge/charge-row.ts';
import { storeCharge } from '#test/store-charge.ts';

import { leaseNamedCharges, type NamedByCallback } from './callback-checks.sql.ts';

/** What callbacks that come together ask for is one statement; each name gets what it would get alone. */

let database: TestDatabase;
let checks: NamedChecks<NamedByCallback, LeasedCharge>;
let wakeUps = 0;
/** Places that the job has, and what it was given to check. */
let places = 0;
const begun: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase('charges');
  checks = createNamedChecks({
    lease: (names, at) => leaseNamedCharges(database.db, names, { places: at, leaseMs: 20_000 }),
    job: {
      takeNow: async (_max, take) => {
        const rows = await take(places);
        begun.push(...rows.map(({ id }) => id));
      },
    },
    wakeStatusChecks: () => {
      wakeUps += 1;
    },
  });
});
beforeEach(() => {
  wakeUps = 0;
  places = 10;
  begun.length = 0;
});
afterAll(() => database[Symbol.asyncDispose]());

async function aCharge(status: StoredStatus = 'pending'): Promise<ChargeId> {
  return (await storeCharge(database.db, { status })).id;
}

/** Returns the ids of the charges that each name stood for. */
async function announce(...names: Partial<NamedByCallback>[]): Promise<string[][]> {
  const nothing = { chargeId: null, endToEndId: null, traceparent: null };
  const named = await Promise.all(names.map((name) => checks.check({ ...nothing, ...name })));
  return named.map((charges) => charges.map(({ id }) => id).toSorted());
}

async function stateOf(id: ChargeId) {
  const [row] = await database.db.query<{ requested: boolean; leased: boolean }>(sql`
    select coalesce(check_at = '-infinity', false) as requested, lease_token is not null as leased
    from charges where id = ${id}`);
  return row;
}

async function noticesOf(endToEndId: string): Promise<number> {
  return (await database.db.query(sql`select from pix_notices where end_to_end_id = ${endToEndId}`))
    .length;
}

const LEASED = { requested: false, leased: true };
const REQUESTED = { requested: true, leased: false };

test('as many charges as there are places are leased, in the order of their names, and the others are requested', async () => {
  const ids = await Promise.all([aCharge(), aCharge(), aCharge()]);
  places = 2;
  expect(await announce(...ids.map((chargeId) => ({ chargeId })))).toEqual(ids.map((id) => [id]));
  expect(begun.toSorted()).toEqual(ids.slice(0, 2).toSorted());
  expect(await Promise.all(ids.map(stateOf))).toEqual([LEASED, LEASED, REQUESTED]);
  expect(wakeUps).toBe(1);
});

test('two callbacks about one charge are one check', async () => {
  const id = await aCharge();
  expect(await announce({ chargeId: id }, { chargeId: id })).toEqual([[id], [id]]);
  expect(begun).toEqual([id]);
  expect(await stateOf(id)).toEqual(LEASED);
});

test('a charge that is being checked is requested: the check under way may have asked before', async () => {
  const id = await aCharge();
  await announce({ chargeId: id });
  await announce({ chargeId: id });
  expect(begun).toEqual([id]);
  expect(await stateOf(id)).toEqual({ requested: true, leased: true });
});

test('a Pix that is recorded names its charge, beside the one that the txid names', async () => {
  const [payer, other] = await Promise.all([aCharge('paid'), aCharge()]);
  const endToEndId = `E${newId()}`;
  await database.db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
    select ${endToEndId}, id, account_id, amount, now(), 'credit' from charges where id = ${payer}`);
  const named = await announce({ chargeId: other, endToEndId }, { endToEndId });
  expect(named).toEqual([[payer, other].toSorted(), [payer]]);
  expect(begun.toSorted()).toEqual([payer, other].toSorted());
  expect(await noticesOf(endToEndId)).toBe(0);
});

test('a Pix that no charge explains becomes one notice, however often it is named at once', async () => {
  const endToEndId = `E${newId()}`;
  const unknown: ChargeId = newId();
  expect(
    await announce(
      { chargeId: unknown, endToEndId },
      { endToEndId },
      { chargeId: await aCharge() },
    ),
  ).toHaveLength(3);
  expect(await noticesOf(endToEndId)).toBe(1);
});

test('a charge that failed is checked and explains nothing', async () => {
  const id = await aCharge('failed');
  const endToEndId = `E${newId()}`;
  expect(await announce({ chargeId: id, endToEndId })).toEqual([[id]]);
  expect(begun).toEqual([id]);
  expect(await noticesOf(endToEndId)).toBe(1);
});

test('a row that is looked for soon keeps its place in the index, and one that is not is looked for when its lease ends', async () => {
  const [soon, late] = await Promise.all([aCharge(), aCharge()]);
  await database.db.query(
    sql`update charges set check_at = now() + interval '30 seconds' where id = ${soon}`,
  );
  await database.db.query(
    sql`update charges set check_at = now() + interval '1 hour' where id = ${late}`,
  );
  await announce({ chargeId: soon }, { chargeId: late });
  const inSeconds = async (id: ChargeId): Promise<number> => {
    const [row] = await database.db.query<{ seconds: number }>(sql`
      select extract(epoch from check_at - now())::float8 as seconds from charges where id = ${id}`);
    return row?.seconds ?? NaN;
  };
  expect(await inSeconds(soon)).toBeGreaterThan(20);
  expect(await inSeconds(late)).toBeLessThanOrEqual(20);
});
