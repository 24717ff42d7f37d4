import { randomUUID } from 'node:crypto';

import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { countLockWaits } from '@pixmesh/testkit/lock-waits';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { type ClaimedLane, claimLanes, renewLanes } from '#lanes/claim-lanes.sql.ts';
import { returnLanes } from '#lanes/release-lanes.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { claimOptions } from '#test/claim-options.ts';
import { emptyQueue } from '#test/read-queue.ts';

import { recordOutcomes } from './record-outcomes.sql.ts';

const LEASE_MS = 60_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterEach(() => emptyQueue(database.db));
afterAll(() => database[Symbol.asyncDispose]());

/** One whose plans read in one way: what a plan chooses depends on what is stored. */
async function aConnection(without: readonly string[]): Promise<Database> {
  const pool = createPool({ url: database.url, applicationName: 'test', max: 1 });
  for (const kind of without) await pool.query(sql`select set_config(${kind}, 'off', false)`);
  return pool;
}

/** Both have locked what they can beside one lane that is held, and wait for it, when it is released. */
async function meet(laneIds: readonly string[], begin: () => Promise<unknown>[]): Promise<void> {
  const held = laneIds.toSorted()[laneIds.length / 2];
  const statements = await database.db.transaction(async (tx) => {
    await tx.query(sql`select id from lanes where id = ${held} for update`);
    const begun = begin();
    await eventually(async () => {
      expect(await countLockWaits(database.db)).toBe(begun.length);
    });
    return { begun };
  });
  await Promise.all(statements.begun);
}

test('lanes that are returned while their breakers are stored are never waited for in a circle, by any plans', async () => {
  // In the order of the ids, and in the order in which the lanes are named.
  await using byKey = await aConnection(['enable_seqscan', 'enable_bitmapscan']);
  await using asGiven = await aConnection(['enable_indexscan', 'enable_bitmapscan']);
  for (const [first, second] of [
    [byKey, asGiven],
    [asGiven, byKey],
  ] as const) {
    const lanes = await claimedLanes(100);
    await meet(idsOf(lanes), () => [
      store(first, lanes),
      returnLanes(second, databaseClock, lanes.toReversed()),
    ]);
  }
});

test('lanes whose rows others hold are not waited for when leases are renewed, and stay owned', async () => {
  const lanes = await claimedLanes(3);
  const [, held] = idsOf(lanes);
  const renew = () =>
    renewLanes(database.db, { clock: databaseClock, leaseMs: LEASE_MS, lanes: lanes.toReversed() });
  const renewedOf = async () =>
    new Map((await renew()).map(({ id, isRenewed }) => [id, isRenewed]));
  await database.db.transaction(async (tx) => {
    await tx.query(sql`select id from lanes where id = ${held} for update`);
    const others = idsOf(lanes).map((id) => [id, id !== held] as const);
    expect(await renewedOf()).toEqual(new Map(others));
  });
  expect(await renewedOf()).toEqual(new Map(idsOf(lanes).map((id) => [id, true])));
});

async function claimedLanes(count: number): Promise<ClaimedLane[]> {
  for (let made = 0; made < count; made += 1) {
    await aBacklog(database.db, { laneId: randomUUID(), count: 1 });
  }
  const lanes = await claimLanes(database.db, claimOptions({ limit: count, leaseMs: LEASE_MS }));
  expect(lanes).toHaveLength(count);
  return lanes;
}

const idsOf = (lanes: readonly ClaimedLane[]) => lanes.map(({ id }) => id);

async function store(db: Database, lanes: readonly ClaimedLane[]): Promise<unknown> {
  const breakers = lanes.map(({ id, fence }) => {
    return { laneId: id, fence, failureCount: 3, probeDelayMs: null };
  });
  return await recordOutcomes(db, databaseClock, { outcomes: [], lanes: breakers });
}
