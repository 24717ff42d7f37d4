import { newId, NIL_ID } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { lockLanesToQueue } from '#lanes/lanes.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { emptyQueue } from '#test/read-queue.ts';

import { createLaneKeeper, type LaneKeeper } from './lane-keeper.ts';
import { LANES_MAX } from './lane-rotation.ts';

/** No shorter than a lease, so that each renewal renews all lanes. */
const TIMEOUT_MS = 60_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterEach(() => emptyQueue(database.db));
afterAll(() => database[Symbol.asyncDispose]());

function aKeeper(db = database.db): LaneKeeper {
  return createLaneKeeper({
    db,
    logger: createLogger('test', 'silent'),
    clock: databaseClock,
    timeoutMs: TIMEOUT_MS,
    leaseMs: TIMEOUT_MS,
    processId: newId(),
  });
}

async function insertDueLanes(laneIds: readonly string[]): Promise<void> {
  await database.db.query(sql`
    insert into lanes (id, claimable_at)
    select id, now() - interval '1 second' from unnest(${laneIds}::uuid[]) as lane (id)`);
}

test('a lane that is claimed before it has its account is counted for that account once it has', async () => {
  const [laneId, accountId] = [newId(), newId()];
  const keeper = aKeeper();
  await insertDueLanes([laneId]);
  await keeper.claim(1, new Set());
  expect(keeper.lanes.get(laneId)?.accountId).toBe(NIL_ID);
  await lockLanesToQueue(database.db, [{ id: laneId, accountId }]);
  await keeper.renew();
  expect(keeper.lanes.get(laneId)?.accountId).toBe(accountId);
});

test('a sender that leaves a smaller part of its lanes than before keeps the others', async () => {
  const keeper = aKeeper();
  await insertDueLanes(Array.from({ length: 10 }, () => newId()));
  await keeper.claim(10, new Set());
  const countDraining = (): number =>
    [...keeper.lanes.values()].filter((one) => one.isDraining).length;
  keeper.leave(0.5);
  expect(countDraining()).toBe(5);
  keeper.leave(0.3);
  expect(countDraining()).toBe(5);
});

test('a sender leaves lanes without a request first: the others could begin none until their slowest has ended', async () => {
  const keeper = aKeeper();
  await insertDueLanes(Array.from({ length: 10 }, () => newId()));
  await keeper.claim(10, new Set());
  const [first, second, ...others] = [...keeper.lanes.values()];
  first!.inFlight.add(newId());
  second!.inFlight.add(newId()).add(newId());
  keeper.leave(0.8);
  expect([first, second].map((one) => one?.isDraining)).toEqual([false, false]);
  expect(others.every(({ isDraining }) => isDraining)).toBe(true);
  keeper.leave(0.9);
  expect([first, second].map((one) => one?.isDraining)).toEqual([true, false]);
});

test('of an account with many lanes that fail those that were served go back into the line, and the others stay', async () => {
  const accountId = newId();
  const [failing, unserved, good] = [newId(), newId(), newId()];
  const keeper = aKeeper();
  await insertDueLanes([failing, unserved, good]);
  await keeper.claim(3, new Set());
  for (const [id, changes] of [
    [failing, { failureCount: 1, servedCount: 1 }],
    [unserved, { failureCount: 1 }],
    [good, { servedCount: 1 }],
  ] as const) {
    keeper.lanes.set(id, { ...keeper.lanes.get(id)!, accountId, claimedMs: -Infinity, ...changes });
  }
  await keeper.rotate({ forSlots: new Set(), forRate: new Set(), ofFailing: new Set([accountId]) });
  expect(new Set(keeper.lanes.keys())).toEqual(new Set([unserved, good]));
});

test('however many accounts have lanes that fail, one that does not is claimed soon', async () => {
  const keeper = aKeeper();
  const failing = Array.from({ length: LANES_MAX + 1 }, () => newId());
  await database.db.query(sql`
    insert into lanes (id, account_id, failure_count, claimable_at)
    select id, id, 1, now() - interval '1 second' from unnest(${failing}::uuid[]) as lane (id)`);
  while (await keeper.claim(64, new Set())) continue;
  expect(keeper.lanes.size).toBe(LANES_MAX);
  const healthy = newId();
  await insertDueLanes([healthy]);
  await keeper.rotate({ forSlots: new Set(), forRate: new Set(), ofFailing: new Set() });
  while (await keeper.claim(64, new Set())) continue;
  expect(keeper.lanes.has(healthy)).toBe(true);
});

test('nothing is sent in a lane whose release got no answer before it is renewed, and another may have it', async () => {
  const laneId = newId();
  const keeper = aKeeper(losesAnswers(database.db));
  await insertDueLanes([laneId]);
  await keeper.claim(1, new Set());
  const lane = keeper.lanes.get(laneId)!;
  lane.mayBeDue = false;
  await expect(keeper.returnIdle()).rejects.toThrow('the connection is lost');
  expect(lane.leaseEndsMs).toBe(-Infinity);
  lane.mayBeDue = true;
  await keeper.renew();
  expect(keeper.lanes.has(laneId)).toBe(false);
});

/** Commits, and says nothing of it. */
function losesAnswers(db: Database): Database {
  return {
    ...db,
    transaction: async (work) => {
      await db.transaction(work);
      throw new Error('the connection is lost');
    },
  };
}
