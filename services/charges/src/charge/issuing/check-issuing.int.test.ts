import type { AcquirerCharge } from '@pixmesh/acquirer/acquirer';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { oldestIssuingSeconds } from '#charge/charge-checks.sql.ts';
import type { ChargeRow } from '#charge/charge-row.ts';
import { createChargeMoves } from '#charge/move-charge.ts';
import { aNewCharge } from '#test/a-new-charge.ts';
import { RECEIVER } from '#test/charges-under-test.ts';

import { checkIssuing } from './check-issuing.ts';
import type { IssuingDeps } from './issuing-deps.ts';

let database: TestDatabase;
let logLines: string[];

beforeAll(async () => {
  database = await createTestDatabase('charges');
});
beforeEach(() => {
  logLines = [];
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
