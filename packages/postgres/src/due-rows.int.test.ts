import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { endLease, IS_FREE, leaseDue, nextCheck, type Urgency } from './due-rows.ts';
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

const THINGS = { table: sql`due_things`, key: sql`id`, columns: sql`id, lease_token` };
const LIMIT = 1_000;

/** In the order of their ids: a statement returns rows in no order that it promises. */
async function lease(urgency: Urgency, leaseMs = 60_000, limit = LIMIT): Promise<number[]> {
  const rows = await db.query<{ id: number }>(leaseDue(THINGS, { urgency, leaseMs, limit }));
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
  await db.query(
    sql`insert into due_things (id, check_at) values (1, '-infinity'), (2, now() - interval '1 second')`,
  );
  expect(await lease('routine')).toEqual([1, 2]);
});

test('a leased row is nobody else’s until its lease ends, and then comes due by itself', async () => {
  await db.query(
    sql`insert into due_things (id, check_at) values (1, now() - interval '1 second')`,
  );
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
    sql`insert into due_things (id, check_at) select n, now() - interval '1 second' from generate_series(1, 50) as n`,
  );
  const taken = (await Promise.all([1, 2, 3, 4].map(() => lease('routine')))).flat();
  expect(taken.length).toBe(new Set(taken).size);
});

test('the end of a check counts it, frees the row and schedules the next one', async () => {
  await db.query(
    sql`insert into due_things (id, check_at) values (1, now() - interval '1 second')`,
  );
  await lease('routine');
  await db.query(sql`update due_things set ${endLease(30_000)}`);
  const row = await read(1);
  expect(row).toMatchObject({ checks: 1, leased: false });
  expect(row?.in_ms).toBeGreaterThan(25_000);
  expect(row?.in_ms).toBeLessThanOrEqual(30_000);
  await db.query(sql`update due_things set ${endLease(null)}`);
  expect(await read(1)).toMatchObject({ check: null, checks: 2 });
});

test('a check that was requested during another one is not lost by the end of that one', async () => {
  await db.query(
    sql`insert into due_things (id, check_at) values (1, now() - interval '1 second')`,
  );
  await lease('routine');
  await db.query(sql`update due_things set check_at = '-infinity'`);
  await db.query(sql`update due_things set ${nextCheck(null)}`);
  await db.query(sql`update due_things set ${endLease(60_000)}`);
  expect(await read(1)).toMatchObject({ check: '-infinity', leased: false });
  expect(await lease('requested')).toEqual([1]);
});

test('a lease takes the most urgent rows first, and no more than it may', async () => {
  await db.query(sql`
    insert into due_things (id, check_at) values
      (1, now() - interval '1 min'), (2, now() - interval '3 min'), (3, '-infinity'),
      (4, now() - interval '2 min')`);
  expect(await lease('routine', 60_000, 2)).toEqual([2, 3]);
  expect(await lease('routine', 60_000, 1)).toEqual([4]);
  expect(await lease('routine', 60_000, 9)).toEqual([1]);
});

test('a row that somebody holds is skipped, not waited for', async () => {
  await db.query(
    sql`insert into due_things (id, check_at) values (1, now() - interval '1 second'), (2, now() - interval '1 second')`,
  );
  await db.transaction(async (tx) => {
    await tx.query(sql`select from due_things where id = 1 for update`);
    expect(await lease('routine')).toEqual([2]);
  });
  expect(await lease('routine')).toEqual([1]);
});

test('what a former holder of a lease writes is kept out by its token', async () => {
  await db.query(
    sql`insert into due_things (id, check_at) values (1, now() - interval '1 second')`,
  );
  const options = { urgency: 'routine', leaseMs: 1, limit: LIMIT } as const;
  const [former] = await db.query<{ lease_token: string }>(leaseDue(THINGS, options));
  await db.query(sql`
    update due_things
    set lease_until = now() - interval '1 second', check_at = now() - interval '1 second'`);
  const [present] = await db.query<{ lease_token: string }>(leaseDue(THINGS, options));
  expect(present?.lease_token).not.toBe(former?.lease_token);
  for (const [holder, ended] of [
    [former, 0],
    [present, 1],
  ] as const) {
    const rows = await db.query(sql`
      update due_things set ${endLease(null)}
      where id = 1 and lease_token = ${holder?.lease_token ?? null} returning id`);
    expect(rows).toHaveLength(ended);
  }
});

test('among many rows the due ones are found by their index, and no other row is read', async () => {
  await db.query(
    sql`create index due_things_check_at on due_things (check_at) where check_at is not null`,
  );
  await db.query(sql`
    insert into due_things (id, check_at)
    select n, case when n % 3 = 0 then now() + n * interval '1 s' when n <= 20 then now() end
    from generate_series(1, 50000) as n`);
  await db.query(sql`analyze due_things`);
  const statement = leaseDue(THINGS, { urgency: 'routine', leaseMs: 60_000, limit: 10 });
  const { scans, rowsRead } = await explainStatement(db, statement);
  expect(scans.filter((scan) => scan.includes('Seq'))).toEqual([]);
  expect(scans).toContain('due_things_check_at');
  expect(rowsRead).toBeLessThan(100);
});
