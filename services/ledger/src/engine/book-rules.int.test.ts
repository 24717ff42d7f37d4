import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { violatedConstraint } from '@pixmesh/postgres/database-error';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { auditBooks } from '#test/audit-books.sql.ts';
import { readBalances } from '#test/read-ledger.ts';
import {
  receivedPixCredit,
  holdRelease,
  receivedPixSuspend,
  holdTake,
} from '#test/ledger-commands.ts';
import { aLedgerUnderTest, type LedgerUnderTest } from '#test/ledger-under-test.ts';

/** The rules that the database keeps whatever the service does: every test speaks as the service's own role. */
let ledger: LedgerUnderTest;
const accountId = newId<AccountId>();

beforeAll(async () => {
  ledger = await aLedgerUnderTest();
  await ledger.submit(receivedPixCredit({ accountId, amount: 1_000 }));
  await ledger.submit(receivedPixSuspend({ accountId, amount: 50 }));
});
afterAll(() => ledger[Symbol.asyncDispose]());

describe('a journal that does not net to zero is refused', () => {
  test.each([
    ['one side only', [100n]],
    ['a cent too much', [-100n, 101n]],
    ['two credits', [100n, 100n]],
  ])('%s', async (_name, amounts) => {
    await expect(insertEntries(ledger.db, amounts)).rejects.toSatisfy(
      (error) => violatedConstraint(error) === 'entries_balanced',
    );
  });

  test('also when another journal of the same statement makes up for it', async () => {
    const insert = ledger.db.query(sql`
      insert into entries (account_id, kind, amount, balance_after, version)
      values
        (${newId()}, 'available', 100, 100, 1),
        (${newId()}, 'acquirer_clearing', -100, -100, 1)`);
    await expect(insert).rejects.toSatisfy(
      (error) => violatedConstraint(error) === 'entries_balanced',
    );
  });

  test('also when the next journal of the same owner makes up for it', async () => {
    const owner = newId();
    const insert = ledger.db.query(sql`
      insert into entries (account_id, kind, amount, balance_after, version)
      values (${owner}, 'available', 100, 100, 1), (${owner}, 'available', -100, 0, 2)`);
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
    ['update of a journal', sql`update journals set kind = 'void_hold'`],
    ['delete of journals', sql`delete from journals`],
    ['truncate of journals', sql`truncate journals`],
    ['update of what a command is', sql`update journals set fingerprint = command_id`],
    ['delete of accounts', sql`delete from accounts`],
    ['truncate of accounts', sql`truncate accounts`],
    ['delete of holds', sql`delete from holds`],
    ['truncate of holds', sql`truncate holds`],
    ['delete of suspense items', sql`delete from suspense_items`],
    ['truncate of suspense items', sql`truncate suspense_items`],
    ['delete of debits of a Pix', sql`delete from pix_debits`],
    ['update of the Pix of a refund', sql`update refund_holds set from_block = 0`],
    ['delete of the Pix of a refund', sql`delete from refund_holds`],
    ['update of an event', sql`update events set type = 'other'`],
    ['disabling the trigger', sql`alter table entries disable trigger entries_balanced`],
    ['dropping the trigger', sql`drop trigger entries_balanced on entries`],
    ['switching triggers off', sql`set session_replication_role = replica`],
    ['a new table', sql`create table mine (id int)`],
  ])('%s is refused to the service', async (_name, statement) => {
    await expect(ledger.db.query(statement)).rejects.toMatchObject({ code: '42501' });
  });
});

describe('an account', () => {
  test('never falls below zero in its available part', async () => {
    const update = ledger.db.query(
      sql`update accounts set available = -1 where account_id = ${accountId}`,
    );
    await expect(update).rejects.toMatchObject({ constraint: 'accounts_available_floor' });
  });

  test('falls below zero only as far as a debit was forced', async () => {
    const debit = (db: Queryable, available: bigint) =>
      db.query(sql`
        update accounts set available = ${available}::bigint, forced_debit = 300
        where account_id = ${accountId}`);
    await rolledBack((tx) => debit(tx, -300n));
    await expect(debit(ledger.db, -301n)).rejects.toMatchObject({
      constraint: 'accounts_available_floor',
    });
  });

  test.each([
    ['pending', sql`update accounts set pending = -1`],
    ['held', sql`update accounts set held = -1`],
    ['blocked', sql`update accounts set blocked = -1`],
  ])('owes nothing in its %s part', async (_kind, update) => {
    await expect(ledger.db.query(update)).rejects.toMatchObject({
      constraint: 'accounts_parts_floor',
    });
  });

  test('may owe in suspense what left against what we said', async () => {
    await rolledBack((tx) => tx.query(sql`update accounts set suspense = -1`));
  });

  test('has no negative forced debit', async () => {
    const update = ledger.db.query(sql`update accounts set forced_debit = -1`);
    await expect(update).rejects.toMatchObject({ constraint: 'accounts_forced_debit' });
  });

  test('numbers its journals: a writer that missed the newest one cannot write entries', async () => {
    const insert = ledger.db.query(sql`
      insert into entries (account_id, kind, amount, balance_after, version)
      values (${accountId}, 'available', 5, 1005, 1), (${accountId}, 'acquirer_clearing', -5, -1005, 1)`);
    await expect(insert).rejects.toMatchObject({ constraint: 'entries_pkey' });
  });

  test('nor a journal', async () => {
    await expect(insertJournal({ accountId, version: 1n })).rejects.toMatchObject({
      constraint: 'journals_version',
    });
  });

  test('has no entry that moves nothing', async () => {
    await expect(insertEntries(ledger.db, [0n])).rejects.toMatchObject({
      constraint: 'entries_amount',
    });
  });
});

describe('a command', () => {
  test('is numbered when it moved money, and only then', async () => {
    const owner = newId();
    for (const wrong of [
      { accountId: owner, version: null, outcome: 'booked' },
      { accountId: owner, version: 1n, outcome: 'insufficient_balance' },
    ]) {
      await expect(insertJournal(wrong)).rejects.toMatchObject({
        constraint: 'journals_numbered',
      });
    }
  });

  test('is decided once, whoever names it', async () => {
    const [first] = await ledger.db.query<{ command_id: string }>(
      sql`select command_id from journals limit 1`,
    );
    const again = { accountId: newId(), version: 1n, commandId: first?.command_id ?? '' };
    await expect(insertJournal(again)).rejects.toMatchObject({ constraint: 'journals_pkey' });
  });
});

describe('a hold', () => {
  test('is open or settled at most once per resource', async () => {
    const hold = holdTake({ accountId, amount: 10 });
    await ledger.submit(hold);
    const insert = (state: string) => sql`
      insert into holds (hold_id, account_id, resource_id, amount, fee, created_at, state, kind)
      values (
        ${newId()}, ${accountId}, ${hold.resourceId}, 1, 0, now(), ${state}::hold_state, 'payout'
      )`;
    for (const state of ['open', 'settled']) {
      await expect(ledger.db.query(insert(state))).rejects.toMatchObject({
        constraint: 'holds_resource',
      });
    }
    await rolledBack((tx) => tx.query(insert('released')));
    await ledger.submit(holdRelease(hold));
  });

  test('reserves no negative sums', async () => {
    const update = ledger.db.query(sql`update holds set fee = -1`);
    await expect(update).rejects.toMatchObject({ constraint: 'holds_money' });
  });
});

describe('a Pix', () => {
  const insert = (row: {
    refunded?: number;
    returned?: number;
    blocked?: number;
    claim?: number;
  }) => {
    const { refunded = 0, returned = 0, blocked = 0, claim = 0 } = row;
    return sql`
      insert into pix_debits (
        account_id, end_to_end_id, received, refunding, refunded, returned, blocked, shortfall, disputed
      )
      values (${newId()}, 'E1', 100, 100, ${refunded}, ${returned}, ${blocked}, 0, ${claim})`;
  };

  test.each([
    ['more gone than was received', { refunded: 50, returned: 51 }, 'pix_debits_received'],
    ['blocked what is gone', { refunded: 50, blocked: 51 }, 'pix_debits_received'],
    ['less than nothing returned', { returned: -1 }, 'pix_debits_floor'],
    ['a claim without a dispute', { claim: 1 }, 'pix_debits_disputed'],
  ])('has never %s', async (_name, row, constraint) => {
    await expect(ledger.db.query(insert(row))).rejects.toMatchObject({ constraint });
  });

  test('may be gone to the last cent, while a refund is still on its way', async () => {
    await rolledBack((tx) => tx.query(insert({ refunded: 60, returned: 40 })));
  });

  test('lends no negative sums from its block', async () => {
    const insertHold = ledger.db.query(sql`
      insert into refund_holds (hold_id, account_id, end_to_end_id, from_block)
      values (${newId()}, ${accountId}, 'E1', -1)`);
    await expect(insertHold).rejects.toMatchObject({ constraint: 'refund_holds_from_block' });
  });
});

test('refused writes have left the books as they were', async () => {
  expect(await auditBooks(ledger.db)).toEqual([]);
  expect(await readBalances(ledger.db, accountId)).toEqual({
    available: 1_000,
    suspense: 50,
    acquirer_clearing: -1_050,
  });
});

test('account rows are updated in place, without a new index entry', async () => {
  for (let index = 0; index < 50; index += 1)
    await ledger.submit(receivedPixCredit({ accountId, amount: 1 }));
  // The server counts with a delay.
  await eventually(async () => {
    const { hot, all } = await countUpdates();
    expect(all).toBeGreaterThanOrEqual(50);
    expect(hot / all).toBeGreaterThanOrEqual(0.95);
  });
});

/** Entries of one journal, of an owner that has no other. */
async function insertEntries(db: Queryable, amounts: readonly bigint[]): Promise<void> {
  await db.query(sql`
    insert into entries (account_id, kind, amount, balance_after, version)
    select ${newId()}::uuid, part.kind, amount, amount, 1
    from unnest(${amounts}::bigint[]) with ordinality as entry (amount, at)
    join unnest(enum_range(null::account_kind)) with ordinality as part (kind, at) using (at)`);
}

async function insertJournal(row: {
  accountId: string;
  version: bigint | null;
  outcome?: string;
  commandId?: string;
}): Promise<void> {
  await ledger.db.query(sql`
    insert into journals (command_id, account_id, version, created_at, kind, outcome, fingerprint)
    values (
      ${row.commandId ?? newId()}, ${row.accountId}, ${row.version}, now(), 'take_hold',
      ${row.outcome ?? 'booked'}::command_outcome, ${newId()}
    )`);
}

/** Runs statements that must succeed, without leaving a trace in the books. */
async function rolledBack(work: (tx: Queryable) => Promise<unknown>): Promise<void> {
  const undo = new Error('undo');
  const transaction = ledger.db.transaction(async (tx) => {
    await work(tx);
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
}

async function countUpdates(): Promise<{ hot: number; all: number }> {
  const [row] = await ledger.db.query<{ hot: bigint; all: bigint }>(sql`
    select n_tup_hot_upd as hot, n_tup_upd as all
    from pg_stat_user_tables where relid = 'accounts'::regclass`);
  return { hot: Number(row?.hot), all: Number(row?.all) };
}
