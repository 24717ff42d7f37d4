import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { claimLanes } from '#lanes/claim-lanes.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { anOutcome } from '#test/an-outcome.ts';
import { claimOptions } from '#test/claim-options.ts';

import { createOutcomeStore, type Outcome } from './outcome-store.ts';

let database: TestDatabase;
let done: string[];
beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
beforeEach(() => {
  done = [];
});
afterAll(() => database[Symbol.asyncDispose]());

/** Successful attempts in one claimed lane. */
async function outcomesOf(count: number): Promise<Outcome[]> {
  const laneId = newId();
  const ids = await aBacklog(database.db, { laneId, count });
  const [lane] = await claimLanes(database.db, claimOptions({ leaseMs: 60_000 }));
  expect(lane?.id).toBe(laneId);
  const first = { endpointId: null, isResend: false, attemptNumber: 1, recoveryId: null };
  return ids.map((id) => {
    const due = { ...first, deliveryId: id, queueId: id, fetchedAtMs: Date.now() };
    return { attempt: anOutcome(due, lane!), lane: null };
  });
}

const aStore = (db: Database, apartIntervalMs: number) =>
  createOutcomeStore({
    db,
    clock: databaseClock,
    logger: createLogger('test', 'silent'),
    apartIntervalMs,
  });

const waiting = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => {
    return { outcome, done: () => void done.push(outcome.attempt.deliveryId) };
  });

async function storedOf(outcomes: readonly Outcome[]): Promise<number> {
  const ids = outcomes.map(({ attempt }) => attempt.deliveryId);
  const rows = await database.db.query(
    sql`select from attempts where delivery_id = any (${ids}::uuid[])`,
  );
  return rows.length;
}

const idsOf = (outcomes: readonly Outcome[]) => outcomes.map(({ attempt }) => attempt.deliveryId);

test('an outcome that cannot be stored does not hold up the others, and keeps its slots for a while', async () => {
  const [bad, ...good] = await outcomesOf(3);
  bad!.attempt.attemptId = 'no id';
  const store = aStore(database.db, 200);
  await store.store(waiting([bad!, ...good]));
  expect(done).toEqual(idsOf(good));
  expect(await storedOf(good)).toBe(2);
  expect(store.isStoringLate()).toBe(false);
  await eventually(() => expect(done).toEqual(idsOf([...good, bad!])));
  expect(await storedOf([bad!])).toBe(0);
});

test('outcomes that the database refuses for now, and not for what they are, are stored once it takes them', async () => {
  const outcomes = await outcomesOf(2);
  let isRefusing = true;
  const db: Database = {
    ...database.db,
    // As while a grant is missing.
    query: (statement) =>
      database.db.query(isRefusing ? sql`select from no_such_table` : statement) as never,
  };
  const store = aStore(db, 50);
  await store.store(waiting(outcomes));
  expect(done).toEqual([]);
  isRefusing = false;
  await eventually(() => expect(done.toSorted()).toEqual(idsOf(outcomes).toSorted()));
  expect(await storedOf(outcomes)).toBe(2);
});

describe('while another transaction holds a row', () => {
  const LOCK_TIMEOUT_MS = 200;
  let db: Database & AsyncDisposable;
  beforeAll(() => {
    db = createPool({
      url: database.url,
      applicationName: 'test',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
    });
  });
  afterAll(() => db[Symbol.asyncDispose]());

  test('of one delivery, the outcomes of other lanes are stored, and its own once it is free', async () => {
    const lanes = [await outcomesOf(2), await outcomesOf(2), await outcomesOf(2)];
    const [held] = lanes[1]!;
    const store = aStore(db, 60_000);
    await holding(
      sql`select from queue where id = ${held!.attempt.queueId} for update`,
      async () => {
        await store.store(waiting(lanes.flat()));
        expect(store.isStoringLate()).toBe(false);
        expect(done.toSorted()).toEqual(idsOf([...lanes[0]!, ...lanes[2]!]).toSorted());
        const [later] = await outcomesOf(1);
        await store.store(waiting([later!]));
        expect(await storedOf([later!])).toBe(1);
      },
    );
    await eventually(() => expect(done).toEqual(expect.arrayContaining(idsOf(lanes[1]!))));
    expect(await storedOf(lanes.flat())).toBe(6);
  });

  test('of a lane, its outcomes are stored without what its breaker has become', async () => {
    const [outcome] = await outcomesOf(1);
    const { laneId, fence } = outcome!.attempt;
    const lane = { laneId, fence, failureCount: 3, probeDelayMs: null };
    await holding(sql`select from lanes where id = ${laneId} for update`, async () => {
      await aStore(db, 60_000).store(waiting([{ ...outcome!, lane }]));
      await eventually(async () => expect(await storedOf([outcome!])).toBe(1));
    });
  });

  test('of every delivery, nothing is sent, and all is stored once they are free', async () => {
    const lanes: Outcome[] = [];
    for (let count = 0; count < 5; count += 1) lanes.push(...(await outcomesOf(1)));
    const store = aStore(db, 60_000);
    let storing: Promise<void> | undefined;
    await holding(sql`lock table queue in exclusive mode`, async () => {
      storing = store.store(waiting(lanes));
      await eventually(() => expect(store.isStoringLate()).toBe(true));
    });
    await storing;
    expect(store.isStoringLate()).toBe(false);
    await eventually(async () => expect(await storedOf(lanes)).toBe(5));
  });
});

/** Does something while a transaction holds what the statement has locked. */
async function holding(statement: Statement, meanwhile: () => Promise<void>): Promise<void> {
  await database.db.transaction(async (tx) => {
    await tx.query(statement);
    await meanwhile();
  });
}
