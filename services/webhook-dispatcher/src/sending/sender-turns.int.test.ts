import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { createLogger } from '@pixmesh/telemetry/logger';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { databaseClock } from '#schedule-clock.ts';
import { aBacklog } from '#test/a-backlog.ts';

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

/** Turns that claim and fetch, and send nothing. */
function startTurns(db: Database): { keeper: LaneKeeper; turns: SenderTurns } {
  const keeper = createLaneKeeper({
    db,
    logger: createLogger('test', 'silent'),
    clock: databaseClock,
    timeoutMs: TIMEOUT_MS,
    leaseMs: TIMEOUT_MS * 2,
    processId: newId(),
  });
  const accountOf = (laneId: string) => keeper.lanes.get(laneId)?.accountId;
  const turns = createSenderTurns({
    db,
    clock: databaseClock,
    keeper,
    recorder: { isStoringLate: () => false },
    rates: createDeliveryRates({ db, clock: databaseClock, accountOf }),
    sends: { size: () => 0, begin: () => undefined },
    inFlightMax: 64,
    inFlightPerLaneMax: 10,
  });
  return { keeper, turns };
}
