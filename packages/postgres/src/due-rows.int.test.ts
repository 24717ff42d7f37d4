import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { endLease, IS_FREE, isDue, nextCheck, takeLease, type Urgency } from './due-rows.ts';
import { createPool, type Database } from './pool.ts';
import { sql } from './sql.ts';

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await createTestDatabase('charges');
  db = createPool({ url: database.adminUrl, applicationName: 'due-rows' });
  await db.query(sql`
    create table due_things (
      id integer primary key,
      check_at timestamptz(3),
      checks integer not null default 0,
      lease_token uuid,
      lease_until timestamptz(3)
    )`);
});
afterEach(async () => {
  await db[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function lease(urgency: Urgency, leaseMs = 60_000): Promise<number[]> {
  const rows = await db.query<{ id: number }>(sql`
    with due as (
      select id as due_id
      from due_things
      where ${isDue(urgency)}
      order by check_at
      for update skip locked
    )
    update due_things
    set ${takeLease(leaseMs)}
    from due
    where id = due_id
    returning id`);
  return rows.map((row) => row.id).sort((a, b) => a - b);
}

async function read(id: number) {
  const [row] = await db.query<{
    check: string | null;
    checks: number;
    leased: boolean;
    in_ms: number | null;
  }>(sql`
    select check_at::text as check, checks, lease_token is not null as leased,
      case when check_at > '-infinity' then extract(epoch from check_at - now())::float8 * 1000 end as in_ms
    from due_things where id = ${id}`);
  return row;
}

test('rows come due by their time; those that somebody asked for can be taken alone', async () => {
  await db.query(sql`
    insert into due_things (id, check_at) values
      (1, '-infinity'), (2, now() - interval '1 hour'), (3, now() + interval '1 hour'), (4, null)`);
  expect(await lease('requested')).toEqual([1]);
  expect(await lease('routine')).toEqual([2]);
  expect(await lease('routine')).toEqual([]);
});

test('a routine turn takes what somebody asked for too, so that nothing waits for its own turn', async () => {
  await db.query(sql`insert into due_things (id, check_at) values (1, '-infinity'), (2, now())`);
  expect(await lease('routine')).toEqual([1, 2]);
});

test('a leased row is nobody else’s until its lease ends, and then comes due by itself', async () => {
  await db.query(sql`insert into due_things (id, check_at) values (1, now())`);
  expect(await lease('routine')).toEqual([1]);
  const [free] = await db.query(sql`select id from due_things where ${IS_FREE}`);
  expect(free).toBeUndefined();
  await db.query(sql`update due_things set check_at = '-infinity'`);
  expect(await lease('requested')).toEqual([]);
  await db.query(sql`update due_things set lease_until = now() - interval '1 ms'`);
  expect(await lease('requested')).toEqual([1]);
});

test('of two that take at once each row has one taker', async () => {
  await db.query(
    sql`insert into due_things (id, check_at) select n, now() from generate_series(1, 50) as n`,
  );
  const taken = (await Promise.all([1, 2, 3, 4].map(() => lease('routine')))).flat();
  expect(taken.length).toBe(new Set(taken).size);
});

test('the end of a look counts it, frees the row and says when the next one is due', async () => {
  await db.query(sql`insert into due_things (id, check_at) values (1, now())`);
  await lease('routine');
  await db.query(sql`update due_things set ${endLease(30_000)}`);
  const row = await read(1);
  expect(row).toMatchObject({ checks: 1, leased: false });
  expect(row?.in_ms).toBeGreaterThan(25_000);
  expect(row?.in_ms).toBeLessThanOrEqual(30_000);
  await db.query(sql`update due_things set ${endLease(null)}`);
  expect(await read(1)).toMatchObject({ check: null, checks: 2 });
});

test('a look that was asked for during another one is not forgotten by the end of that one', async () => {
  await db.query(sql`insert into due_things (id, check_at) values (1, now())`);
  await lease('routine');
  await db.query(sql`update due_things set check_at = '-infinity'`);
  await db.query(sql`update due_things set ${nextCheck(null)}`);
  await db.query(sql`update due_things set ${endLease(60_000)}`);
  expect(await read(1)).toMatchObject({ check: '-infinity', leased: false });
  expect(await lease('requested')).toEqual([1]);
});
