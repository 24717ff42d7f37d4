import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { BREAKER_THRESHOLD, inFlightMaxOf } from '#lanes/owned-lane.ts';
import { databaseClock } from '#schedule-clock.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { holdRecording } from '#test/held-recording.ts';
import { readLane } from '#test/queued-deliveries.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { startAnsweringReceiver } from '#test/start-answering-receiver.ts';
import { type Receiver, startReceiver } from '#test/start-receiver.ts';
import { startTestSender } from '#test/test-sender.ts';

const PER_LANE_MAX = 10;
const BACKLOG = 50;
/** Nothing here is to time out. */
const TIMEOUT_MS = 60_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterEach(() => emptyQueue(database.db));
afterAll(() => database[Symbol.asyncDispose]());

describe('while no outcome can be stored', () => {
  test('an answered request makes way for another one, and with as many outcomes unstored as there are slots no further one begins', async () => {
    const { held, shop, others, laneId } = await aHeldLane();
    await using _closed = shop;
    await using _othersClosed = others;
    await using sender = startSender({ db: held.db, shop, others });
    // A stop waits for outcomes.
    using _ = { [Symbol.dispose]: held.release };
    await eventually(() => expect(shop.requests).toHaveLength(PER_LANE_MAX));
    await othersHaveTurns(sender, others);
    expect(shop.requests).toHaveLength(PER_LANE_MAX);

    shop.answerAll();
    await eventually(() => expect(shop.requests).toHaveLength(inFlightMaxOf(PER_LANE_MAX)));
    shop.answerAll();
    await othersHaveTurns(sender, others);
    expect(shop.requests).toHaveLength(inFlightMaxOf(PER_LANE_MAX));
    expect(await attemptsOf(laneId)).toBe(0);

    shop.answerFromNowOn();
    held.release();
    await eventually(async () => expect(await attemptsOf(laneId)).toBe(BACKLOG));
    expect(shop.requests).toHaveLength(BACKLOG);
    expect(shop.mostOut()).toBe(PER_LANE_MAX);
  });

  test('a receiver that fails gets no more requests than open its breaker', async () => {
    const { held, shop, others } = await aHeldLane();
    await using _closed = shop;
    await using _othersClosed = others;
    await using sender = startSender({ db: held.db, shop, others });
    // A stop waits for outcomes.
    using _ = { [Symbol.dispose]: held.release };
    await eventually(() => expect(shop.requests).toHaveLength(PER_LANE_MAX));
    shop.answerAll(500);
    await othersHaveTurns(sender, others);
    expect(shop.requests).toHaveLength(BREAKER_THRESHOLD);
  });

  test('a sender that stops keeps the lane, and returns it once they are stored: nothing is sent again', async () => {
    const { held, shop, others, laneId } = await aHeldLane(3);
    await using _closed = shop;
    await using _othersClosed = others;
    const first = startSender({ db: held.db, shop, others });
    await eventually(() => expect(shop.requests).toHaveLength(3));
    const owner = await ownerOf(laneId);
    shop.answerAll();
    const stopped = first[Symbol.asyncDispose]();

    await using second = startSender({ db: database.db, shop, others });
    await othersHaveTurns(second, others);
    expect(await readLane(database.db, laneId)).toMatchObject({ waiting: 3, leased: true });
    expect(await ownerOf(laneId)).toBe(owner);

    held.release();
    await stopped;
    await othersHaveTurns(second, others);
    expect(await attemptsOf(laneId)).toBe(3);
    expect(shop.requests).toHaveLength(3);
  });
});

/** A lane with deliveries due, a database that stores no outcome, and receivers for it and for other lanes. */
async function aHeldLane(count = BACKLOG) {
  const laneId = newId();
  await aBacklog(database.db, { laneId, count, url: urlOf('shop') });
  const shop = await startAnsweringReceiver();
  return { held: holdRecording(database.db), shop, others: await startReceiver(), laneId };
}

type Receivers = { shop: Receiver; others: Receiver };

function startSender({ db, shop, others }: Receivers & { db: TestDatabase['db'] }) {
  return startTestSender({
    db,
    receivers: { shop: shop.port, others: others.port },
    clock: databaseClock,
    timeoutMs: TIMEOUT_MS,
    inFlightPerLaneMax: PER_LANE_MAX,
  });
}

/** Resolves after turns of the sender that would have served any lane with room. */
async function othersHaveTurns(sender: { wake(): void }, others: Receiver): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    const before = others.requests.length;
    await aBacklog(database.db, { laneId: newId(), count: 1, url: urlOf('others') });
    sender.wake();
    await eventually(() => expect(others.requests.length).toBeGreaterThan(before));
  }
}

async function attemptsOf(laneId: string): Promise<number> {
  const [row] = await database.db.query<{ count: number }>(sql`
    select count(*)::int as count
    from attempts join deliveries on deliveries.id = attempts.delivery_id
    where lane_id = ${laneId}`);
  return row?.count ?? 0;
}

async function ownerOf(laneId: string): Promise<string | null> {
  const [row] = await database.db.query<{ owner: string | null }>(
    sql`select owner from lanes where id = ${laneId}`,
  );
  return row?.owner ?? null;
}

function urlOf(name: string): string {
  return `http://${name}.receiver.example.com/hook`;
}
