import assert from 'node:assert';

import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { auditBooks } from '#test/audit-books.sql.ts';
import { holdTake, receivedPixCredit, receivedPixSuspend } from '#test/ledger-commands.ts';
import { aLedgerUnderTest, type LedgerUnderTest } from '#test/ledger-under-test.ts';

import { executeBatch } from './execute-batch.ts';
import { lockBatch } from './lock-batch.sql.ts';

const wakeOutbox = (): void => undefined;

let ledger: LedgerUnderTest;

beforeAll(async () => {
  ledger = await aLedgerUnderTest();
});
afterEach(async () => {
  assert.deepEqual(await auditBooks(ledger.db), []);
});
afterAll(() => ledger[Symbol.asyncDispose]());

test('owners that are locked for too long are passed over, with all their commands', async () => {
  const [mine, other] = [await ledger.fund(100), await ledger.fund(100)];
  const takeOf = (accountId: AccountId) => holdTake({ accountId, amount: 5 });
  const commands = [mine, other, mine, newId<AccountId>(), other].map(takeOf);
  await ledger.db.transaction(async (tx) => {
    await lockBatch(tx, [takeOf(mine)]);
    expect(await ledger.execute(commands)).toMatchObject([
      { kind: 'owner_locked', accountId: mine },
      { code: 'booked' },
      { kind: 'owner_locked', accountId: mine },
      { code: 'insufficient_balance' },
      { code: 'booked' },
    ]);
  });
  expect(await ledger.execute([commands[0]!, commands[2]!])).toMatchObject([
    { code: 'booked', repeated: false },
    { code: 'booked', repeated: false },
  ]);
});

test('an owner that was found locked is not waited for again while it is', async () => {
  const [mine, other] = [await ledger.fund(100), await ledger.fund(100)];
  const commands = [mine, other].map((accountId) => holdTake({ accountId, amount: 5 }));
  const lockedOwners = new Set<AccountId>();
  let transactions = 0;
  const db: typeof ledger.db = {
    ...ledger.db,
    transaction: async (work) => {
      transactions += 1;
      return await ledger.db.transaction(work);
    },
  };
  const execute = () => executeBatch({ db, wakeOutbox, lockedOwners }, commands);
  await ledger.db.transaction(async (tx) => {
    await lockBatch(tx, [holdTake({ accountId: mine })]);
    await execute();
    // One that waited in vain, and one without that owner.
    expect(transactions).toBe(2);
    expect(await execute()).toMatchObject([{ kind: 'owner_locked' }, { code: 'booked' }]);
    expect(transactions).toBe(3);
  });
  expect(await execute()).toMatchObject([{ code: 'booked', repeated: false }, { repeated: true }]);
  expect(lockedOwners).toEqual(new Set());
});

test('a new owner whose row was never committed is waited for again', async () => {
  const fresh = newId<AccountId>();
  const command = receivedPixCredit({ accountId: fresh });
  const lockedOwners = new Set<AccountId>();
  const execute = () => executeBatch({ db: ledger.db, wakeOutbox, lockedOwners }, [command]);
  const rolledBack = ledger.db.transaction(async (tx) => {
    await lockBatch(tx, [command]);
    expect(await execute()).toMatchObject([{ kind: 'owner_locked' }]);
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
  expect(await execute()).toMatchObject([{ code: 'booked' }]);
});

test('a new owner whose row another transaction has not committed is passed over', async () => {
  const [locked, other] = [await ledger.fund(100), await ledger.fund(100)];
  const fresh = newId<AccountId>();
  const creditOf = (accountId: AccountId) => receivedPixCredit({ accountId });
  const commands = [fresh, locked, other, fresh].map(creditOf);
  await ledger.db.transaction(async (tx) => {
    await lockBatch(tx, [creditOf(fresh), creditOf(locked)]);
    expect(await ledger.execute(commands)).toMatchObject([
      { kind: 'owner_locked', accountId: fresh },
      { kind: 'owner_locked', accountId: locked },
      { code: 'booked' },
      { kind: 'owner_locked', accountId: fresh },
    ]);
  });
  const booked = (repeated: boolean) => ({ code: 'booked', repeated });
  expect(await ledger.execute(commands)).toMatchObject([false, false, true, false].map(booked));
});

test('an owner that is locked is passed over in both halves of a batch that is refused', async () => {
  const [mine, other] = [await ledger.fund(100), await ledger.fund(100)];
  const unwritable = receivedPixSuspend({ accountId: other, endToEndId: 'E\u0000' });
  const freed = Promise.withResolvers<void>();
  let transactions = 0;
  const db: typeof ledger.db = {
    ...ledger.db,
    transaction: async (work) => {
      transactions += 1;
      // One waits in vain, one without that owner is refused; the row is free again in the first half.
      if (transactions === 3) freed.resolve();
      return await ledger.db.transaction(work);
    },
  };
  const holding = ledger.db.transaction(async (tx) => {
    await lockBatch(tx, [holdTake({ accountId: mine })]);
    const first = holdTake({ accountId: mine, amount: 1 });
    const last = holdTake({ accountId: mine, amount: 1 });
    const executing = executeBatch({ db, wakeOutbox, lockedOwners: new Set() }, [
      first,
      unwritable,
      last,
    ]);
    await Promise.race([freed.promise, executing]);
    return { executing };
  });
  const { executing } = await holding;
  expect((await executing).map(({ kind }) => kind)).toEqual([
    'owner_locked',
    'rejected',
    'owner_locked',
  ]);
});

test('an owner that another batch holds for a moment is waited for, beside one that is locked', async () => {
  const [locked, busy] = [await ledger.fund(100), await ledger.fund(100)];
  const commands = [locked, busy].map((accountId) => holdTake({ accountId, amount: 5 }));
  const db: typeof ledger.db = {
    ...ledger.db,
    // Asks for locked owners while another batch is in the middle of its work.
    query: (statement) =>
      ledger.db.transaction(async (tx) => {
        await lockBatch(tx, [holdTake({ accountId: busy })]);
        return await ledger.db.query(statement);
      }),
  };
  await ledger.db.transaction(async (tx) => {
    await lockBatch(tx, [holdTake({ accountId: locked })]);
    expect(await executeBatch({ db, wakeOutbox, lockedOwners: new Set() }, commands)).toMatchObject(
      [{ kind: 'owner_locked' }, { code: 'booked' }],
    );
  });
});
