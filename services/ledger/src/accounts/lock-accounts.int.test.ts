import { type AccountId, newId } from '@pixmesh/kernel/ids';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { readBalances } from '#testing/check-ledger.ts';

import { lockAccounts } from './accounts.sql.ts';
import type { AccountKind } from './chart-of-accounts.ts';

const KINDS = ['available', 'pending', 'acquirer_clearing'] as const satisfies AccountKind[];

let database: Awaited<ReturnType<typeof createTestDatabase>>;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
});
afterAll(() => database[Symbol.asyncDispose]());

describe('opening', () => {
  test('accounts that nobody has needed before are open, empty and locked', async () => {
    const accountId = newId<AccountId>();
    const locked = await database.db.transaction((tx) => lockAccounts(tx, accountId, KINDS));
    expect(locked.accountId).toBe(accountId);
    expect([...locked.balances]).toEqual(KINDS.map((kind) => [kind, 0n]));
    expect(await readBalances(database.db, accountId)).toEqual({
      available: 0,
      pending: 0,
      acquirer_clearing: 0,
    });
  });

  test('accounts are opened once, however many first journals meet', async () => {
    const accountId = newId<AccountId>();
    await Promise.all(
      Array.from({ length: 10 }, () =>
        database.db.transaction((tx) => lockAccounts(tx, accountId, KINDS)),
      ),
    );
    expect(Object.keys(await readBalances(database.db, accountId))).toEqual([...KINDS]);
  });

  test('a kind that is needed later is added to those that stand', async () => {
    const accountId = newId<AccountId>();
    await database.db.transaction((tx) => lockAccounts(tx, accountId, KINDS));
    await database.db.transaction((tx) => deposit(tx, accountId, 500n));
    const locked = await database.db.transaction((tx) =>
      lockAccounts(tx, accountId, [...KINDS, 'suspense']),
    );
    expect(locked.balances.get('available')).toBe(500n);
    expect(locked.balances.get('suspense')).toBe(0n);
  });

  test('accounts that were opened in a transaction that failed are not there', async () => {
    const accountId = newId<AccountId>();
    const failing = database.db.transaction(async (tx) => {
      await lockAccounts(tx, accountId, KINDS);
      throw new Error('afterwards');
    });
    await expect(failing).rejects.toThrow('afterwards');
    expect(await readBalances(database.db, accountId)).toEqual({});
  });
});

describe('waiting', () => {
  test('whoever waited reads what the last writer left', async () => {
    const accountId = newId<AccountId>();
    await database.db.transaction((tx) => lockAccounts(tx, accountId, KINDS));
    const second = Promise.withResolvers<bigint | undefined>();
    await database.db.transaction(async (tx) => {
      await lockAccounts(tx, accountId, KINDS);
      const waiting = database.db.transaction((other) => lockAccounts(other, accountId, KINDS));
      waiting.then(
        (locked) => second.resolve(locked.balances.get('available')),
        (error: unknown) => second.reject(error),
      );
      await eventually(async () => expect(await countWaiting(database.db)).toBe(1));
      await deposit(tx, accountId, 700n);
    });
    expect(await second.promise).toBe(700n);
  });

  test("nobody waits for another owner's accounts", async () => {
    await database.db.transaction(async (tx) => {
      await lockAccounts(tx, newId<AccountId>(), KINDS);
      const other = await database.db.transaction((free) =>
        lockAccounts(free, newId<AccountId>(), KINDS),
      );
      expect(other.balances.get('available')).toBe(0n);
    });
  });

  test('a read of the balance never waits for a writer', async () => {
    const accountId = newId<AccountId>();
    await database.db.transaction((tx) => lockAccounts(tx, accountId, KINDS));
    await database.db.transaction(async (tx) => {
      await lockAccounts(tx, accountId, KINDS);
      await deposit(tx, accountId, 700n);
      expect(await readBalances(database.db, accountId)).toMatchObject({ available: 0 });
    });
    expect(await readBalances(database.db, accountId)).toMatchObject({ available: 700 });
  });
});

async function deposit(tx: Transaction, accountId: string, amount: bigint): Promise<void> {
  await tx.query(sql`
    update accounts set balance = balance + ${amount}::bigint
    where account_id = ${accountId} and kind = 'available'`);
}

/** Sessions of this database that wait for a lock. */
async function countWaiting(db: Queryable): Promise<number> {
  const rows = await db.query(sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`);
  return rows.length;
}
