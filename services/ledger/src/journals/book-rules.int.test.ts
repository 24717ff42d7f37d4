import { newId } from '@pixmesh/kernel/ids';
import { violatedConstraint } from '@pixmesh/postgres/database-error';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findBreaks, readBalances } from '#testing/check-ledger.ts';
import { aCredit, aSuspense, handle } from '#testing/received-pix-messages.ts';

/** The rules that the database keeps whatever the service does: every test speaks as the service's own role. */
let database: Awaited<ReturnType<typeof createTestDatabase>>;
const accountId = newId();

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  const deps = { db: database.db, kickOutbox: () => undefined };
  await handle(deps, aCredit({ accountId, amount: 1_000 }));
  await handle(deps, aSuspense({ accountId, amount: 50 }));
});
afterAll(() => database[Symbol.asyncDispose]());

describe('a journal that does not net to zero is refused', () => {
  test.each([
    ['one side only', [100n]],
    ['a cent too much', [-100n, 101n]],
    ['two credits', [100n, 100n]],
  ])('%s', async (_name, amounts) => {
    await expect(insertEntries(database.db, amounts)).rejects.toSatisfy(
      (error) => violatedConstraint(error) === 'entries_balanced',
    );
  });

  test('also when another journal of the same statement makes up for it', async () => {
    const insert = database.db.query(sql`
      insert into entries (journal_id, account_id, kind, amount, balance_after, version)
      values
        (${newId()}, ${newId()}, 'available', 100, 100, 1),
        (${newId()}, ${newId()}, 'acquirer_clearing', -100, -100, 1)`);
    await expect(insert).rejects.toSatisfy(
      (error) => violatedConstraint(error) === 'entries_balanced',
    );
  });

  test('a balanced one is accepted', async () => {
    await rolledBack((tx) => insertEntries(tx, [-100n, 60n, 40n]));
  });
});

describe('what is written stays written', () => {
  test.each([
    ['update of an entry', sql`update entries set amount = 1`],
    ['delete of entries', sql`delete from entries`],
    ['truncate of entries', sql`truncate entries`],
    ['update of a journal', sql`update journals set kind = 'other'`],
    ['delete of journals', sql`delete from journals`],
    ['truncate of journals', sql`truncate journals`],
    ['delete of accounts', sql`delete from accounts`],
    ['truncate of accounts', sql`truncate accounts`],
    ['delete of suspense items', sql`delete from suspense_items`],
    ['truncate of suspense items', sql`truncate suspense_items`],
    ['update of an event', sql`update events set type = 'other'`],
    ['disabling the trigger', sql`alter table entries disable trigger entries_balanced`],
    ['dropping the trigger', sql`drop trigger entries_balanced on entries`],
    ['switching triggers off', sql`set session_replication_role = replica`],
    ['a new table', sql`create table mine (id int)`],
  ])('%s is refused to the service', async (_name, statement) => {
    await expect(database.db.query(statement)).rejects.toMatchObject({ code: '42501' });
  });
});

describe('an account', () => {
  test('never falls below zero in its available part', async () => {
    const update = database.db.query(
      sql`update accounts set balance = -1 where account_id = ${accountId} and kind = 'available'`,
    );
    await expect(update).rejects.toMatchObject({ constraint: 'accounts_available_floor' });
  });

  test('falls below zero only as far as a debit was forced', async () => {
    const debit = (db: Queryable, balance: bigint) =>
      db.query(sql`
        update accounts set balance = ${balance}::bigint, forced_debit = 300
        where account_id = ${accountId} and kind = 'available'`);
    await rolledBack((tx) => debit(tx, -300n));
    await expect(debit(database.db, -301n)).rejects.toMatchObject({
      constraint: 'accounts_available_floor',
    });
  });

  test.each(['pending', 'held', 'blocked', 'suspense'])(
    'owes nothing in its %s part',
    async (kind) => {
      const insert = database.db.query(
        sql`insert into accounts (account_id, kind, balance) values (${newId()}, ${kind}, -1)`,
      );
      await expect(insert).rejects.toMatchObject({ constraint: 'accounts_parts_floor' });
    },
  );

  test('has no negative forced debit', async () => {
    const update = database.db.query(sql`update accounts set forced_debit = -1`);
    await expect(update).rejects.toMatchObject({ constraint: 'accounts_forced_debit' });
  });

  test('numbers its entries: a writer that missed the newest one cannot write', async () => {
    const insert = database.db.query(sql`
      insert into entries (journal_id, account_id, kind, amount, balance_after, version)
      values
        (${newId()}, ${accountId}, 'available', 5, 1005, 1),
        (${newId()}, ${accountId}, 'acquirer_clearing', -5, -1005, 1)`);
    await expect(insert).rejects.toMatchObject({ constraint: 'entries_pkey' });
  });

  test('has no entry that moves nothing', async () => {
    await expect(insertEntries(database.db, [0n])).rejects.toMatchObject({
      constraint: 'entries_amount',
    });
  });
});

test('refused writes have left the books as they were', async () => {
  expect(await findBreaks(database.db)).toEqual([]);
  expect(await readBalances(database.db, accountId)).toEqual({
    available: 1_000,
    pending: 0,
    suspense: 50,
    acquirer_clearing: -1_050,
  });
});

test('account rows are updated in place, without a new index entry', async () => {
  const deps = { db: database.db, kickOutbox: () => undefined };
  for (let index = 0; index < 50; index += 1) await handle(deps, aCredit({ accountId, amount: 1 }));
  // Two accounts move per credit; the server counts with a delay.
  await eventually(async () => {
    const { hot, all } = await countUpdates();
    expect(all).toBeGreaterThanOrEqual(100);
    expect(hot / all).toBeGreaterThanOrEqual(0.95);
  });
});

/** Entries of one journal, on accounts that no other journal has. */
async function insertEntries(db: Queryable, amounts: readonly bigint[]): Promise<void> {
  await db.query(sql`
    insert into entries (journal_id, account_id, kind, amount, balance_after, version)
    select ${newId()}::uuid, ${newId()}::uuid, 'available', amount, amount, version
    from unnest(${amounts}::bigint[]) with ordinality as entry (amount, version)`);
}

/** Runs statements that must succeed, without leaving a trace in the books. */
async function rolledBack(work: (tx: Queryable) => Promise<unknown>): Promise<void> {
  const undo = new Error('undo');
  const transaction = database.db.transaction(async (tx) => {
    await work(tx);
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
}

async function countUpdates(): Promise<{ hot: number; all: number }> {
  const [row] = await database.db.query<{ hot: bigint; all: bigint }>(sql`
    select n_tup_hot_upd as hot, n_tup_upd as all
    from pg_stat_user_tables where relid = 'accounts'::regclass`);
  return { hot: Number(row?.hot), all: Number(row?.all) };
}
