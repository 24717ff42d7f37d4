import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { fillCharges } from '#test/store-charge.ts';

import { leaseIssuingCharges } from './charge-checks.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

/** Charges that the acquirer did not answer, whose checks are due since `since`. */
async function storeUnissued(
  accountId: AccountId,
  { rows, since }: { rows: number; since: string },
): Promise<void> {
  await fillCharges(database.db, { accountId, rows, spacingSeconds: 0 });
  await database.db.query(sql`
    update charges
    set status = 'processing', failure_reason = null, accepted_e2e = null, check_at = ${since}
    where account_id = ${accountId}`);
}

test('thousands of charges of one account that wait to be issued hide no other account', async () => {
  const [busy, other] = [newId<AccountId>(), newId<AccountId>()];
  await storeUnissued(busy, { rows: 3_000, since: '2026-01-01T12:00:00Z' });
  await storeUnissued(other, { rows: 5, since: '2026-01-01T12:00:10Z' });
  const leased = await leaseIssuingCharges(database.db, { limit: 32, leaseMs: 60_000 });
  expect(leased).toHaveLength(32);
  expect(leased.filter(({ accountId }) => accountId === other)).toHaveLength(5);
});
