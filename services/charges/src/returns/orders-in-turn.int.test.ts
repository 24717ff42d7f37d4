import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { refundOrders } from '#refunds/refund-orders.sql.ts';
import { returnItemOrders } from '#suspense/resolutions.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

const MANY = 3_000;
const LEASE_MS = 60_000;

type Due = { count: number; checkAt?: string };

async function storeRefunds(owner: AccountId | null, due: Due): Promise<void> {
  const { count, checkAt = '-infinity' } = due;
  await database.db.query(sql`
    insert into refunds (
      id, charge_id, account_id, end_to_end_id, amount, status, hold_id, requested_by, fingerprint, check_at
    )
    select gen_random_uuid(), gen_random_uuid(), ${owner}::uuid, 'E' || number, 500, 'processing', gen_random_uuid(),
      gen_random_uuid(), '\\x00', ${checkAt}::timestamptz
    from generate_series(1, ${count}::int) as number`);
}

async function storeItems(owner: AccountId | null, due: Due): Promise<void> {
  const { count, checkAt = '-infinity' } = due;
  await database.db.query(sql`
    insert into suspense_resolutions (id, item_id, end_to_end_id, owner_id, amount, action, check_at)
    select gen_random_uuid(), gen_random_uuid(), 'E' || number, ${owner}::uuid, 500, 'return', ${checkAt}::timestamptz
    from generate_series(1, ${count}::int) as number`);
}

const REFUNDS = {
  orders: refundOrders,
  store: storeRefunds,
  others: [newId<AccountId>(), newId<AccountId>()] as const,
};
const ITEMS = {
  orders: returnItemOrders,
  store: storeItems,
  // Some belong to the platform.
  others: [newId<AccountId>(), null] as const,
};

describe.each([
  ['refunds', REFUNDS],
  ['returns of items', ITEMS],
] as const)('%s', (_what, { orders, store, others }) => {
  const busy = newId<AccountId>();
  const ownerOf = (row: { accountId: AccountId | null; ownerId?: AccountId | null }) =>
    row.ownerId === undefined ? row.accountId : row.ownerId;

  test('of one account by the thousand leave others their turns, new ones and those in progress', async () => {
    await store(busy, { count: MANY });
    for (const other of others) await store(other, { count: 1 });
    await store(busy, { count: 3, checkAt: '2020-01-01' });
    await store(others[0], { count: 1, checkAt: '2020-01-02' });
    const turn = { limit: 4, leaseMs: LEASE_MS };
    const fresh = (await orders.leaseDue(database.db, 'requested', turn)).map(ownerOf);
    expect(fresh).toEqual(expect.arrayContaining([...others, busy]));
    const inProgress = await orders.leaseDue(database.db, 'routine', { ...turn, limit: 2 });
    expect(inProgress.map(ownerOf).toSorted()).toEqual([busy, others[0]].toSorted());
  });
});
