import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { createLogger } from '@pixmesh/telemetry/logger';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { storeRate } from '#rates/delivery-rates.sql.ts';
import { databaseClock, type ScheduleClock } from '#schedule-clock.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { turnableClock } from '#test/test-sender.ts';

import { createDeliveryRates } from './delivery-rates.ts';
import { createLaneKeeper, type LaneKeeper } from './lane-keeper.ts';
import { createSenderTurns, type SenderTurns } from './sender-turns.ts';

const TIMEOUT_MS = 10_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

test('a lane that becomes due while others are being claimed is claimed by the next turn, before any poll', async () => {
  const claims = holdClaims(database.db);
  const { keeper, turns } = startTurns(claims.db);
  const turn = turns.turn(true);
  await claims.answered;
  const laneId = newId();
  await aBacklog(database.db, { laneId, count: 1 });
  turns.markDue([laneId]);
  claims.release();
  expect(await turn).toBe(true);
  expect(keeper.lanes.has(laneId)).toBe(false);
  await turns.turn(false);
  expect(keeper.lanes.has(laneId)).toBe(true);
});

test('each lane of a limited account that has a delivery gets it, whatever the lanes beside it were given', async () => {
  await emptyQueue(database.db);
  const clock = turnableClock();
  const { turns, begun } = startTurns(database.db, clock);
  const accountId = newId();
  const lanes = Array.from({ length: 16 }, () => newId());
  for (const laneId of lanes) await aBacklog(database.db, { laneId, accountId, count: 1 });
  const empty = lanes.slice(0, 12);
  await database.db.query(sql`delete from queue where lane_id = any(${empty})`);
  await storeRate(database.db, { accountId, perSecondMax: 10, version: 1 });
  // Half a second's worth, which is all that may leave at once.
  clock.advance(10_000);
  while (await turns.turn(true)) continue;
  expect(new Set(begun)).toEqual(new Set(lanes.slice(12)));
});

/** The real database; its answer to the first claim is kept back until it is released. */
function holdClaims(real: Database) {
  const [answered, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const db: Database = {
    ...real,
    query: async (statement) => {
      const rows = await real.query<never>(statement);
      if (statement.name === 'lanes_claim') {
        answered.resolve();
        await released.promise;
      }
      return rows;
    },
  };
  return { db, answered: answered.promise, release: released.resolve };
}

/** Turns that claim and fetch, and send nothing; `begun` are the lanes of what would have been sent. */
function startTurns(
  db: Database,
  clock: ScheduleClock = databaseClock,
): { keeper: LaneKeeper; turns: SenderTurns; begun: string[] } {
  const begun: string[] = [];
  const keeper = createLaneKeeper({
    db,
    logger: createLogger('test', 'silent'),
    clock,
    timeoutMs: TIMEOUT_MS,
    leaseMs: TIMEOUT_MS * 2,
    processId: newId(),
  });
  const accountOf = (laneId: string) => keeper.lanes.get(laneId)?.accountId;
  const turns = createSenderTurns({
    db,
    clock,
    keeper,
    recorder: { isStoringLate: () => false },
    rates: createDeliveryRates({ db, clock, accountOf }),
    sends: { size: () => 0, begin: ({ lane }) => void begun.push(lane.id) },
    inFlightMax: 64,
    inFlightPerLaneMax: 10,
  });
  return { keeper, turns, begun };
}
