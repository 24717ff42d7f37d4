import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { inTurn } from './accounts-in-turn.ts';
import type { Urgency } from './due-rows.ts';
import { leaseByAccount, leaseDueInTurn } from './lease-in-turn.ts';
import { createPool, type Database } from './pool.ts';
import { sql } from './sql.ts';

const THINGS = {
  table: sql`turn_things`,
  key: sql`id`,
  columns: sql`id, account_id as "accountId"`,
};
const LEASE_MS = 60_000;
const MANY = 10_000;

type Thing = { id: number; accountId: AccountId };

let database: TestDatabase;
let db: Database;
let accounts: AccountId[];
beforeEach(async () => {
  database = await createTestDatabase('charges');
  db = createPool({ url: database.adminUrl, applicationName: 'lease-in-turn' });
  await db.query(sql`
    create table turn_things (
      id integer primary key,
      account_id uuid not null,
      check_at timestamptz(3),
      is_urgent boolean not null default true,
      lease_token uuid,
      lease_until timestamptz(3)
    )`);
  await db.query(
    sql`create index things_requested on turn_things (account_id) where check_at = '-infinity'`,
  );
  await db.query(
    sql`create index things_check_at on turn_things (check_at) where check_at is not null`,
  );
  await db.query(
    sql`create index things_urgent on turn_things (account_id, check_at) where is_urgent and check_at is not null`,
  );
  accounts = Array.from({ length: 3 }, () => newId<AccountId>()).toSorted();
});
afterEach(async () => {
  await db[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Rows of one account that are due, with ids from `first` on. */
async function add(
  account: number,
  { first, count, checkAt }: { first: number; count: number; checkAt: string },
): Promise<void> {
  await db.query(sql`
    insert into turn_things (id, account_id, check_at)
    select id, ${accounts[account]}::uuid, ${checkAt}::timestamptz
    from generate_series(${first}::int, ${first + count - 1}::int) as id`);
}

const URGENT = { urgency: 'routine', leaseMs: LEASE_MS, only: sql`is_urgent` } as const;

/** The accounts that each turn of `limit` rows served, by their place in the list, sorted. */
function takeTurns(urgency: Urgency, limit: number): () => Promise<number[]> {
  const take = inTurn<Thing>((turn) =>
    db.query<Thing>(leaseDueInTurn(THINGS, { ...turn, urgency, leaseMs: LEASE_MS })),
  );
  return async () =>
    (await take(limit)).map(({ accountId }) => accounts.indexOf(accountId)).toSorted();
}

test.each([
  ['requested', '-infinity'],
  ['routine', '2020-01-01'],
] as const)('of %s rows each account gets its part, then one has all', async (urgency, checkAt) => {
  await add(0, { first: 1, count: 7, checkAt });
  await add(1, { first: 100, count: 2, checkAt });
  await add(2, { first: 200, count: 1, checkAt });
  const turn = takeTurns(urgency, 3);
  expect(await turn()).toEqual([0, 1, 2]);
  expect(await turn()).toEqual([0, 0, 1]);
  expect(await turn()).toEqual([0, 0, 0]);
  expect(await turn()).toEqual([0]);
  expect(await turn()).toEqual([]);
});

test('ten thousand requested rows of one account do not delay another', async () => {
  await add(0, { first: 1, count: MANY, checkAt: '-infinity' });
  await add(2, { first: MANY + 1, count: 2, checkAt: '-infinity' });
  const turn = takeTurns('requested', 1);
  expect([await turn(), await turn(), await turn(), await turn(), await turn()].flat()).toEqual([
    0, 2, 0, 2, 0,
  ]);
});

test('of an account, what has been due for longest comes first', async () => {
  await add(0, { first: 1, count: 1, checkAt: '2020-01-03' });
  await add(0, { first: 2, count: 1, checkAt: '2020-01-01' });
  await add(0, { first: 3, count: 1, checkAt: '2020-01-02' });
  const lease = leaseDueInTurn(THINGS, { urgency: 'routine', limit: 2, leaseMs: LEASE_MS });
  const ids = (await db.query<Thing>(lease)).map(({ id }) => id);
  expect(ids.toSorted()).toEqual([2, 3]);
});

test('ten thousand routine rows of one account hide no other where accounts are walked over, oldest first', async () => {
  await add(0, { first: 1, count: MANY, checkAt: '2020-01-01' });
  await add(1, { first: MANY + 1, count: 1, checkAt: '2020-01-03' });
  await add(1, { first: MANY + 2, count: 1, checkAt: '2020-01-02' });
  await add(2, { first: MANY + 3, count: 1, checkAt: 'infinity' });
  const take = inTurn<Thing>((turn) =>
    db.query<Thing>(leaseByAccount(THINGS, { ...URGENT, ...turn })),
  );
  const taken = [await take(2), await take(2), await take(2)].map((rows) =>
    rows.map(({ id }) => id).filter((id) => id > MANY),
  );
  expect(taken).toEqual([[MANY + 2], [MANY + 1], []]);
});

test('rows of accounts that are walked over are found by their index', async () => {
  await add(0, { first: 1, count: MANY, checkAt: '2020-01-01' });
  await add(1, { first: MANY + 1, count: MANY, checkAt: '2020-01-01' });
  await db.query(sql`update turn_things set is_urgent = false where account_id = ${accounts[0]}`);
  await db.query(sql`vacuum analyze turn_things`);
  const statement = leaseByAccount(THINGS, { ...URGENT, limit: 10 });
  const { scans, rowsRead } = await explainStatement(db, statement);
  expect(scans).toContain('things_urgent');
  expect(rowsRead).toBeLessThan(200);
});

test.each([
  ['requested', '-infinity'],
  ['routine', '2020-01-01'],
] as const)('of %s rows an account that is left out has no turn', async (urgency, checkAt) => {
  await add(0, { first: 1, count: 3, checkAt });
  await add(1, { first: 100, count: 2, checkAt });
  await add(2, { first: 200, count: 2, checkAt });
  const except = [accounts[0] ?? '', accounts[2] ?? ''];
  const lease = leaseDueInTurn(THINGS, { urgency, limit: 1, leaseMs: LEASE_MS, except });
  const taken = await db.query<Thing>(lease);
  expect(taken.map(({ accountId }) => accountId)).toEqual([accounts[1]]);
});

test('however many routine rows an account that is left out has, those of others are found', async () => {
  await add(0, { first: 1, count: MANY, checkAt: '2020-01-01' });
  await add(1, { first: MANY + 1, count: 1, checkAt: '2020-01-02' });
  const except = [accounts[0] ?? ''];
  const lease = leaseDueInTurn(THINGS, { urgency: 'routine', limit: 1, leaseMs: LEASE_MS, except });
  expect((await db.query<Thing>(lease)).map(({ id }) => id)).toEqual([MANY + 1]);
  // However many are passed over, a bounded number is read.
  await add(0, { first: MANY + 2, count: 3 * MANY, checkAt: '2020-01-01' });
  await db.query(sql`analyze turn_things`);
  expect((await explainStatement(db, lease)).rowsRead).toBeLessThan(2.5 * MANY);
});

test('what another process holds, and what is not yet due, is left alone', async () => {
  await add(0, { first: 1, count: 2, checkAt: '-infinity' });
  await add(1, { first: 3, count: 1, checkAt: '2020-01-01' });
  await add(1, { first: 4, count: 1, checkAt: 'infinity' });
  await db.query(sql`
    update turn_things set lease_token = gen_random_uuid(), lease_until = now() + interval '1 hour' where id = 1`);
  await db.transaction(async (tx) => {
    await tx.query(sql`select id from turn_things where id = 2 for update`);
    expect(await takeTurns('requested', 10)()).toEqual([]);
  });
  expect(await takeTurns('requested', 10)()).toEqual([0]);
  expect(await takeTurns('routine', 10)()).toEqual([1]);
});

test.each([
  ['requested', 'things_requested'],
  ['routine', 'things_check_at'],
] as const)('%s rows are found by their index', async (urgency, index) => {
  await add(0, { first: 1, count: MANY, checkAt: 'infinity' });
  await add(1, { first: MANY + 1, count: 5, checkAt: '-infinity' });
  await add(2, { first: MANY + 10, count: 5, checkAt: '2020-01-01' });
  await db.query(sql`analyze turn_things`);
  const statement = leaseDueInTurn(THINGS, { urgency, limit: 10, leaseMs: LEASE_MS });
  const plan = await explainStatement(db, statement);
  expect(plan.scans).toContain(index);
});
