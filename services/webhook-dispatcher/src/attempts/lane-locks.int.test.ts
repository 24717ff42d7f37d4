import { randomUUID } from 'node:crypto';

import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { countLockWaits } from '@pixmesh/testkit/lock-waits';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { claimLanes, renewLanes } from '#lanes/claim-lanes.sql.ts';
import { returnLanes } from '#lanes/release-lanes.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { claimOptions } from '#test/claim-options.ts';

import { recordOutcomes } from './record-outcomes.sql.ts';

const LEASE_MS = 60_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
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

test('lanes that are renewed or returned while their breakers are stored are never waited for in a circle, by any plans', async () => {
  // In the order of the ids, and in the order in which the lanes are named.
  await using byKey = await aConnection(['enable_seqscan', 'enable_bitmapscan']);
  await using asGiven = await aConnection(['enable_indexscan', 'enable_bitmapscan']);
  for (let count = 0; count < 100; count += 1) {
    await aBacklog(database.db, { laneId: randomUUID(), count: 1 });
  }
  const clock = databaseClock;
  const lanes = await claimLanes(database.db, claimOptions({ limit: 100, leaseMs: LEASE_MS }));
  expect(lanes).toHaveLength(100);
  const breakers = lanes.map(({ id, fence }) => {
    return { laneId: id, fence, failureCount: 3, probeDelayMs: null };
  });
  const laneIds = lanes.map(({ id }) => id);
  const store = (db: Database, changes: typeof breakers) =>
    recordOutcomes(db, clock, { outcomes: [], lanes: changes });
  const renew = (db: Database, claims: typeof lanes) =>
    renewLanes(db, { clock, leaseMs: LEASE_MS, lanes: claims });
  await meet(laneIds, () => [store(byKey, breakers), renew(asGiven, lanes.toReversed())]);
  await meet(laneIds, () => [store(asGiven, breakers.toReversed()), renew(byKey, lanes)]);
  await meet(laneIds, () => [
    store(byKey, breakers),
    returnLanes(asGiven, clock, lanes.toReversed()),
  ]);
});
