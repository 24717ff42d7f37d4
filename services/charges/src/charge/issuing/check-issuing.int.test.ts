import type { AcquirerCharge } from '@pixmesh/acquirer/acquirer';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { leaseDueCharges, oldestIssuingSeconds } from '#charge/charge-checks.sql.ts';
import type { ChargeRow } from '#charge/charge-row.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { aNewCharge } from '#test/a-new-charge.ts';
import { aReceivedPix } from '#test/a-received-pix.ts';
import { RECEIVER } from '#test/charges-under-test.ts';

import { checkIssuing } from './check-issuing.ts';
import type { IssuingDeps } from './issuing-deps.ts';

let database: TestDatabase;
let logLines: string[];
/** How often the status checks were woken. */
let wakes: number;

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
beforeEach(() => {
  logLines = [];
  wakes = 0;
});
afterAll(() => database[Symbol.asyncDispose]());

/** One check of a charge that the acquirer has, as it shows it. */
async function check(charge: ChargeRow, shown: Partial<AcquirerCharge>): Promise<ChargeRow> {
  const found: AcquirerCharge = {
    txid: toAcquirerId(charge.id),
    status: 'active',
    amountCents: charge.amount,
    location: 'pix.example.com/v2/1',
    brCode: null,
    createdAt: charge.createdAt,
    expiresInSeconds: charge.expiresIn,
    pixKey: RECEIVER.pix_key,
    received: [],
    ...shown,
  };
  const deps: Partial<IssuingDeps> = {
    db: database.db,
    moves: createChargeMoves(database.db),
    logger: createLogger('charges', 'error', { write: (line) => void logLines.push(line) }),
    receiver: RECEIVER,
    wakeOutbox: () => undefined,
    wakeStatusChecks: () => {
      wakes += 1;
    },
    pendingChecks: { firstMs: 60_000, maxMs: 60_000 },
    acquirer: {
      getCharge: () => Promise.resolve({ kind: 'found', value: found }),
      cancelCharge: () => Promise.resolve({ kind: 'unknown', cause: 'timeout' }),
    } as unknown as IssuingDeps['acquirer'],
  };
  const { charge: after } = await checkIssuing(
    deps as IssuingDeps,
    charge,
    Number.POSITIVE_INFINITY,
  );
  return after;
}

test.each<[string, Partial<AcquirerCharge>]>([
  ['another amount at the acquirer', { amountCents: toCents(1) }],
  ['no usable code, and is not removed', { location: null }],
])('a charge that has %s stays in processing and is named in the log', async (_, shown) => {
  const charge = await aNewCharge(database.db);
  expect((await check(charge, shown)).status).toBe('processing');
  expect(logLines.map((line) => JSON.parse(line))).toMatchObject([{ charge_id: charge.id }]);
});

test.each<[string, Partial<AcquirerCharge>]>([
  ['is issued', {}],
  ['fails because it cannot be paid', { location: null }],
  ['fails because it was removed', { status: 'removed_by_psp' }],
])(
  'a check comes before all routine ones where money is seen for a charge that %s',
  async (_, shown) => {
    const paid = await aNewCharge(database.db);
    await check(paid, { received: [aReceivedPix({ amountCents: paid.amount })], ...shown });
    expect(wakes).toBe(1);
    const requested = await leaseDueCharges(database.db, 'requested', {
      limit: 10,
      leaseMs: 1_000,
    });
    expect(requested.map(({ id }) => id)).toEqual([paid.id]);
  },
);

test('a charge that is issued and not paid has a routine check', async () => {
  const charge = await aNewCharge(database.db);
  expect((await check(charge, {})).status).toBe('pending');
  expect(wakes).toBe(0);
  expect(await leaseDueCharges(database.db, 'requested', { limit: 10, leaseMs: 1_000 })).toEqual(
    [],
  );
});

test('the age of the oldest charge in processing is known, and 0 where none is', async () => {
  await database.db.query(sql`update charges set status = 'failed', failure_reason = 'x'`);
  expect(await oldestIssuingSeconds(database.db)).toBe(0);
  const { id } = await aNewCharge(database.db);
  await aNewCharge(database.db);
  await database.db.query(
    sql`update charges set created_at = created_at - interval '1 hour' where id = ${id}`,
  );
  expect(await oldestIssuingSeconds(database.db)).toBeCloseTo(3_600, -2);
  await database.db.query(
    sql`update charges set status = 'failed', failure_reason = 'x' where id = ${id}`,
  );
  expect(await oldestIssuingSeconds(database.db)).toBeLessThan(3_600);
});
