import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { onCommit } from './on-commit.ts';
import { createPool, type Database, type Transaction } from './pool.ts';
import { sql } from './sql.ts';

let database: TestDatabase;
let admin: Database;
let counted: string[];

beforeAll(async () => {
  database = await createTestDatabase('charges');
  admin = createPool({ url: database.adminUrl, applicationName: 'on-commit-test', max: 2 });
  await admin.query(
    sql`create table charges.counted (id int unique deferrable initially deferred, value int not null default 0)`,
  );
  await admin.query(sql`grant all on charges.counted to pixmesh_charges`);
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => {
  counted = [];
  await admin.query(sql`truncate charges.counted`);
});

const insert = (tx: Transaction, id: number) => tx.query(sql`insert into counted values (${id})`);
const count = (what: string) => () => void counted.push(what);
const stored = () => database.db.query<{ id: number }>(sql`select id from counted order by id`);

test('what is counted in a transaction is counted once it is committed, in its order, and not before', async () => {
  await database.db.transaction(async (tx) => {
    await insert(tx, 1);
    onCommit(tx, count('first'));
    await insert(tx, 2);
    onCommit(tx, count('second'));
    expect(counted).toEqual([]);
    expect(await stored()).toEqual([]);
  });
  expect(counted).toEqual(['first', 'second']);
  expect(await stored()).toEqual([{ id: 1 }, { id: 2 }]);
});

test('a transaction that is rolled back counts nothing', async () => {
  const work = database.db.transaction(async (tx) => {
    await insert(tx, 1);
    onCommit(tx, count('lost'));
    throw new Error('after all, no');
  });
  await expect(work).rejects.toThrow('after all, no');
  expect(counted).toEqual([]);
});

test('a transaction that the server refuses to commit counts nothing', async () => {
  const work = database.db.transaction(async (tx) => {
    await insert(tx, 1);
    await insert(tx, 1);
    onCommit(tx, count('refused'));
  });
  await expect(work).rejects.toMatchObject({ code: '23505' });
  expect({ counted, stored: await stored() }).toEqual({ counted: [], stored: [] });
});

test('a failed statement whose error is caught ends the transaction with an error, and counts nothing', async () => {
  const work = database.db.transaction(async (tx) => {
    await insert(tx, 1);
    onCommit(tx, count('lost'));
    await tx.query(sql`select 1 / 0`).catch(() => undefined);
  });
  await expect(work).rejects.toThrow('rolled back');
  expect({ counted, stored: await stored() }).toEqual({ counted: [], stored: [] });
});

test('a transaction that is done again after a deadlock counts once', async () => {
  await admin.query(sql`insert into charges.counted values (1), (2)`);
  const bothHold = barrier(2);
  let tries = 0;
  const change = (tx: Transaction, id: number) =>
    tx.query(sql`update counted set value = value + 1 where id = ${id}`);
  const changeBoth = (first: number, second: number, what: string) => {
    let isRepeat = false;
    return database.db.transaction(async (tx) => {
      tries += 1;
      onCommit(tx, count(what));
      await change(tx, first);
      if (!isRepeat) {
        isRepeat = true;
        await bothHold();
      }
      await change(tx, second);
    });
  };
  await Promise.all([changeBoth(1, 2, 'one way'), changeBoth(2, 1, 'the other way')]);
  expect(tries).toBe(3);
  expect(counted.toSorted()).toEqual(['one way', 'the other way']);
});

test('two transactions at once count for themselves alone', async () => {
  const bothHave = barrier(2);
  const lost = database.db.transaction(async (tx) => {
    onCommit(tx, count('lost'));
    await bothHave();
    throw new Error('after all, no');
  });
  const kept = database.db.transaction(async (tx) => {
    onCommit(tx, count('kept'));
    await bothHave();
  });
  await expect(lost).rejects.toThrow('after all, no');
  await kept;
  expect(counted).toEqual(['kept']);
});

test('outside of a transaction it is counted at once, and in the next transaction not again', async () => {
  onCommit(database.db, count('at once'));
  expect(counted).toEqual(['at once']);
  await database.db.transaction((tx) => insert(tx, 1));
  expect(counted).toEqual(['at once']);
});

/** Lets `parties` go on once all of them have come. */
function barrier(parties: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  return async () => {
    waiting += 1;
    if (waiting === parties) resolve();
    await promise;
  };
}
