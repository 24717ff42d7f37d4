import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { type ChargesUnderTest, startChargesUnderTest } from '#test/charges-under-test.ts';
import { fillCharges, storeCharge } from '#test/store-charge.ts';

import { leaseIssuingStatement, oldestDueCheckSeconds } from '#charge/charge-checks.sql.ts';

const HOUR_MS = 3_600_000;
const DAY_S = 86_400;
/** Two of five are never paid: more than a minute of routine checks. */
const UNPAID = 4_000;

let charges: ChargesUnderTest;

beforeAll(async () => {
  charges = await startChargesUnderTest();
});
afterEach(() => charges.simulator.control('DELETE', '/control/faults'));
afterAll(() => charges[Symbol.asyncDispose]());

async function countDue(): Promise<number> {
  const [row] = await charges.db.query<{ due: number }>(
    sql`select count(*)::int as due from charges where check_at <= now()`,
  );
  return row?.due ?? 0;
}

test('a creation without an answer is settled before thousands of charges that might be paid', async () => {
  await fillCharges(charges.db, {
    accountId: newId(),
    rows: (UNPAID * 5) / 2,
    spacingSeconds: 0,
    lifetime: sql`${DAY_S}::bigint`,
  });
  await charges.db.query(
    sql`update charges set check_at = now() - interval '1 hour' where status = 'pending'`,
  );
  const rules = [{ operation: 'issueCharge', fault: 'error_before', status: 503, count: 1 }];
  await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules });
  const caller = { ...aCaller(), creation_id: newId() };
  const created = await charges.request(caller, 'POST /v1/charges', {
    amount: 2_000,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  });
  expect(created.status).toBe(500);
  await eventually(async () => {
    const shown = await charges.request(caller, `GET /v1/charges/${caller.creation_id}`);
    expect(shown.body.status).toBe('pending');
  });
  expect(await countDue()).toBeGreaterThan(UNPAID / 4);
  await using superuser = createPool({ url: charges.adminUrl, applicationName: 'test' });
  await superuser.query(sql`analyze charges.charges`);
  const lease = leaseIssuingStatement({ limit: 16, leaseMs: 1_000 });
  expect((await explainStatement(charges.db, lease)).scans).toContain('charges_issuing');
  await charges.db.query(sql`update charges set check_at = null`);
});

test('for how long a routine check has been due is shown', async () => {
  const { id } = await storeCharge(charges.db);
  await charges.db.query(sql`
    update charges
    set check_at = now() - interval '1 hour', lease_until = now() + interval '1 minute',
        lease_token = gen_random_uuid()
    where id = ${id}`);
  expect(await oldestDueCheckSeconds(charges.db)).toBeGreaterThan(3_599);
  await charges.db.query(sql`update charges set check_at = null where id = ${id}`);
  expect(await oldestDueCheckSeconds(charges.db)).toBe(0);
});

describe('the next check of a charge that is not paid', () => {
  /** Hours until it, after a check that was requested. */
  async function hoursToNextCheck(expiredMs: number): Promise<number> {
    const expiresAt = new Date(Date.now() - expiredMs);
    const createdAt = new Date(expiresAt.getTime() - 24 * HOUR_MS);
    const { id } = await storeCharge(charges.db, { createdAt, expiresAt });
    await charges.db.query(sql`update charges set check_at = '-infinity' where id = ${id}`);
    return await eventually(async () => {
      const [row] = await charges.db.query<{ hours: number }>(sql`
        select extract(epoch from check_at - now())::float8 / 3600 as hours
        from charges
        where id = ${id} and lease_token is null and check_at > '-infinity'`);
      if (row === undefined) throw new Error('it was not looked at yet');
      return row.hours;
    });
  }

  test('comes by its period before it expires', async () => {
    expect(await hoursToNextCheck(-HOUR_MS)).toBeLessThan(0.1);
  });

  test.each([
    [2, 2],
    [1_000, 1_000],
    [10_000, 90 * 24],
  ])('comes the later the longer ago it expired: %i h, after %i h', async (expired, hours) => {
    expect(await hoursToNextCheck(expired * HOUR_MS)).toBeCloseTo(hours, 1);
  });
});
