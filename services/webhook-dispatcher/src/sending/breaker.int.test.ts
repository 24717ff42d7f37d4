import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { BREAKER_THRESHOLD, PROBE_INTERVAL_MS } from '#lanes/owned-lane.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { answerWith, startReceiver } from '#test/start-receiver.ts';
import { startTestSender, turnableClock } from '#test/test-sender.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

afterEach(() => emptyQueue(database.db));
afterAll(() => database[Symbol.asyncDispose]());

/** Fails until `heal`, and counts how many requests were open at once at most since then. */
async function startFailing() {
  const state = { status: 500, open: 0, most: 0 };
  const receiver = await startReceiver((request, response) => {
    state.open += 1;
    state.most = Math.max(state.most, state.open);
    setTimeout(() => {
      state.open -= 1;
      answerWith(state.status)(request, response);
    }, 20);
  });
  return {
    ...receiver,
    heal: () => {
      state.status = 200;
    },
    mostSince: () => {
      const { most } = state;
      state.most = state.open;
      return most;
    },
  };
}

function aSender(port: number) {
  const receivers = { shop: port };
  return startTestSender({ db: database.db, receivers, clock: turnableClock() });
}

async function breakerOf(laneId: string) {
  const [lane] = await database.db.query<{ failure_count: number; is_open: boolean }>(
    sql`select failure_count, probe_at is not null as is_open from lanes where id = ${laneId}`,
  );
  return lane;
}

describe('a lane whose receiver fails', () => {
  test('is narrowed to one probe an interval, costs those that wait nothing, and opens with a success', async () => {
    await using receiver = await startFailing();
    const laneId = newId();
    const ids = await aBacklog(database.db, { laneId, count: 40 });
    await using _sender = aSender(receiver.port);
    await eventually(async () => expect((await breakerOf(laneId))?.is_open).toBe(true));
    expect(receiver.requests).toHaveLength(BREAKER_THRESHOLD);
    expect((await breakerOf(laneId))?.failure_count).toBe(BREAKER_THRESHOLD);
    receiver.mostSince();
    const count = BREAKER_THRESHOLD + 2;
    await eventually(() => expect(receiver.requests).toHaveLength(count));
    const [last, probe, next] = receiver.requests.slice(-3).map(({ receivedMs }) => receivedMs);
    for (const pause of [probe! - last!, next! - probe!]) {
      expect(pause).toBeGreaterThanOrEqual(PROBE_INTERVAL_MS);
    }
    expect(receiver.mostSince()).toBe(1);
    // The oldest go first, those that wait keep their places and have no attempt.
    const sent = receiver.requests.map(({ headers }) => String(headers['x-webhook-delivery']));
    expect(sent.toSorted()).toEqual(ids.slice(0, count).toSorted());
    await eventually(async () => {
      const waiting = await database.db.query(sql`
        select id from queue
        where lane_id = ${laneId} and rank = 0 and attempt_count = 0
          and not exists (select from attempts where delivery_id = queue.delivery_id)`);
      expect(waiting).toHaveLength(ids.length - count);
    });
    receiver.heal();
    await eventually(() => expect(receiver.requests).toHaveLength(ids.length));
    await eventually(async () => {
      expect(await breakerOf(laneId)).toEqual({ failure_count: 0, is_open: false });
    });
    expect(receiver.mostSince()).toBeGreaterThan(1);
  }, 30_000);

  test('is so for the next sender as well', async () => {
    await using receiver = await startFailing();
    const laneId = newId();
    await aBacklog(database.db, { laneId, count: 40 });
    await using first = aSender(receiver.port);
    await eventually(async () => expect((await breakerOf(laneId))?.is_open).toBe(true));
    await first[Symbol.asyncDispose]();
    const before = receiver.requests.length;
    receiver.mostSince();
    await using _second = aSender(receiver.port);
    await eventually(() => expect(receiver.requests.length).toBeGreaterThanOrEqual(before + 2));
    expect(receiver.mostSince()).toBe(1);
  }, 30_000);
});
