import type { PollingLoop } from '@pixmesh/service/polling-loop';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { createPolledSignal, startDueWorkPoll } from './due-work-poll.ts';
import { hasDue, leaseDue } from './due-rows.ts';
import { startDueRowsJob } from './due-rows-job.ts';
import { createPool, type Database } from './pool.ts';
import { sql } from './sql.ts';

/** Far sooner than a job that the poll does not wake polls by itself. */
const FOUND_MS_MAX = 2_000;

let database: TestDatabase;
let db: Database;
let running: PollingLoop[];
const logger = createLogger('test', 'silent');

beforeEach(async () => {
  running = [];
  database = await createTestDatabase('charges');
  db = createPool({ url: database.adminUrl, applicationName: 'due-work-poll' });
  for (const table of [sql`orders`, sql`parcels`]) {
    await db.query(sql`
      create table ${table} (
        id integer primary key,
        check_at timestamptz(3),
        lease_token uuid,
        lease_until timestamptz(3)
      )`);
    await db.query(sql`create index on ${table} (check_at) where check_at is not null`);
  }
});
afterEach(async () => {
  for (const one of running) await one[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const DUE_WORK = { orders: hasDue(sql`orders`), parcels: hasDue(sql`parcels`) };

/** Two jobs and the poll of one process: the rows that were worked on, when it polled, and the turns of its jobs. */
async function startProcess() {
  const signals = { orders: createPolledSignal(), parcels: createPolledSignal() };
  const done: { id: number; ms: number }[] = [];
  const turns = { orders: 0, parcels: 0 };
  const polledMs: number[] = [];
  const counted: Pick<Database, 'query'> = {
    query: async (statement) => {
      polledMs.push(performance.now());
      return await db.query(statement);
    },
  };
  for (const [name, table] of [
    ['orders', sql`orders`] as const,
    ['parcels', sql`parcels`] as const,
  ]) {
    const due = { table, key: sql`id`, columns: sql`id` };
    const take = async (limit: number): Promise<{ id: number }[]> => {
      turns[name] += 1;
      return await db.query(leaseDue(due, { limit, leaseMs: 60_000 }));
    };
    running.unshift(
      startDueRowsJob<{ id: number }>({
        name,
        logger,
        signal: signals[name],
        inFlightMax: 4,
        sources: [{ take, max: 4 }],
        handle: async ({ id }) => {
          done.push({ id, ms: performance.now() });
          await db.query(sql`update ${table} set check_at = null where id = ${id}::int`);
        },
        describe: () => ({}),
        parentOf: () => null,
        wakesAtEnds: false,
      }),
    );
  }
  // Their first turns find nothing.
  await eventually(() => expect(turns).toEqual({ orders: 1, parcels: 1 }));
  running.unshift(startDueWorkPoll({ db: counted, logger, dueWork: DUE_WORK, signals }));
  return { done, turns, polledMs };
}

test('a job wakes for a row that another process made due, and the others sleep on', async () => {
  const { done, turns } = await startProcess();
  await using other = createPool({ url: database.adminUrl, applicationName: 'other' });
  const madeMs = performance.now();
  await other.query(sql`insert into parcels (id, check_at) values (1, '-infinity')`);
  await eventually(() => expect(done).toHaveLength(1));
  expect((done[0]?.ms ?? Infinity) - madeMs).toBeLessThan(FOUND_MS_MAX);
  expect(turns.orders).toBe(1);
});

test('a row is worked on when its time has come by the clock of the database, not before', async () => {
  const { done } = await startProcess();
  const madeMs = performance.now();
  await db.query(sql`insert into orders (id, check_at) values (1, now() + interval '800 ms')`);
  await eventually(() => expect(done).toHaveLength(1));
  const afterMs = (done[0]?.ms ?? 0) - madeMs;
  // Two clocks, of which one is read in whole milliseconds.
  expect(afterMs).toBeGreaterThan(790);
  expect(afterMs).toBeLessThan(800 + FOUND_MS_MAX);
});

test('a row whose lease has ended with its process is taken again', async () => {
  const { done } = await startProcess();
  await db.query(sql`
    insert into orders (id, check_at, lease_token, lease_until)
    values (1, now() + interval '600 ms', gen_random_uuid(), now() + interval '600 ms')`);
  await eventually(() => expect(done.map(({ id }) => id)).toEqual([1]));
});

test('it polls less often while nothing is due, and as before once something was', async () => {
  const { done, polledMs } = await startProcess();
  const pauseMs = () => Number(polledMs.at(-1)) - Number(polledMs.at(-2));
  await eventually(() => expect(pauseMs()).toBeGreaterThan(900), 15_000);
  await db.query(sql`insert into parcels (id, check_at) values (1, now())`);
  await eventually(() => expect(done).toHaveLength(1));
  await eventually(() => expect(pauseMs()).toBeLessThan(500));
});

test('a poll that fails is repeated, and finds what has become due meanwhile', async () => {
  const { done } = await startProcess();
  await db.query(sql`alter table parcels rename to parcels_away`);
  await db.query(sql`insert into orders (id, check_at) values (1, now() + interval '600 ms')`);
  await eventually(async () => {
    const [late] = await db.query(sql`select from orders where check_at <= now()`);
    expect(late).toBeDefined();
  });
  await db.query(sql`alter table parcels_away rename to parcels`);
  await eventually(() => expect(done.map(({ id }) => id)).toEqual([1]));
});

test('a poll of a large table reads one entry, whether much is due or nothing', async () => {
  await db.query(sql`
    insert into orders (id, check_at)
    select id, case when id % 2 = 0 then now() + interval '1 hour' end
    from generate_series(1, 50000) as id`);
  await db.query(sql`vacuum analyze orders`);
  const poll = sql`select ${DUE_WORK.orders}`;
  for (const due of [0, 50_000]) {
    await db.query(
      sql`update orders set check_at = now() - interval '1 hour' where id <= ${due}::int`,
    );
    await db.query(sql`vacuum analyze orders`);
    const { scans, rowsRead, pagesRead } = await explainStatement(db, poll);
    expect(scans).toEqual(['orders_check_at_idx']);
    expect(rowsRead).toBe(1);
    expect(pagesRead).toBeLessThan(10);
  }
});
