import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { claimLanes } from '#lanes/claim-lanes.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { claimOptions } from '#test/claim-options.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { answerWith, type Receiver, startReceiver } from '#test/start-receiver.ts';
import { startTestHeartbeat, startTestSender, turnableClock } from '#test/test-sender.ts';

import { fetchDue } from './fetch-due.sql.ts';

/** Deliveries of each lane that several senders share. */
const SHARED_BACKLOG = scaled(100, 200);

const URL_OF_SHOP = 'http://shop.receiver.example.com/hook';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

afterEach(() => emptyQueue(database.db));
afterAll(() => database[Symbol.asyncDispose]());

type SenderBounds = { inFlightMax?: number; inFlightPerLaneMax?: number; leaseMs?: number };

function aSender(receiver: Receiver, bounds: SenderBounds = {}) {
  const receivers = { shop: receiver.port };
  return startTestSender({ db: database.db, receivers, clock: turnableClock(), ...bounds });
}

/** Deliveries of one lane that are due, and their ids. */
async function aLane(count: number, options: { rank?: 0 | 1 | 2; dueInMs?: number } = {}) {
  const laneId = newId();
  const ids = await aBacklog(database.db, { laneId, count, url: URL_OF_SHOP, ...options });
  return { laneId, ids: new Set(ids) };
}

/** Plans are made for what it holds now; an empty one has no pages, as far as they know. */
async function vacuumQueue(): Promise<void> {
  await using superuser = createPool({ url: database.adminUrl, applicationName: 'test' });
  await superuser.query(sql`vacuum analyze webhook_dispatcher.queue`);
}

function idsAt({ requests }: Receiver): string[] {
  return requests.map(({ headers }) => String(headers['x-webhook-delivery']));
}

/** Answers after a while, and knows how many it answered at once at most. */
async function startSlow(ms: number) {
  let [open, most] = [0, 0];
  const receiver = await startReceiver((request, response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      answerWith(200)(request, response);
    }, ms);
  });
  return { ...receiver, most: () => most };
}

describe('within a lane', () => {
  test('first attempts go before retries, and retries never starve', async () => {
    await using receiver = await startReceiver();
    const { laneId, ids: retries } = await aLane(60, { rank: 1, dueInMs: -60_000 });
    const firsts = new Set(await aBacklog(database.db, { laneId, count: 60, url: URL_OF_SHOP }));
    await using _sender = aSender(receiver, { inFlightPerLaneMax: 2 });
    await eventually(() => expect(receiver.requests).toHaveLength(120), 20_000);
    const sent = idsAt(receiver);
    const early = sent.slice(0, 60);
    expect(early.filter((id) => firsts.has(id)).length).toBeGreaterThanOrEqual(48);
    expect(early.filter((id) => retries.has(id)).length).toBeGreaterThanOrEqual(4);
    expect(new Set(sent).size).toBe(120);
  });

  const planned = [0, 1, 10, 100, 1_000].flatMap((waiting) => [
    { waiting, plansOnce: true },
    { waiting, plansOnce: false },
  ]);
  test.each(planned)(
    'a fetch gives nothing twice of what is due at one instant, planned while $waiting waited (once: $plansOnce)',
    async ({ waiting, plansOnce }) => {
      const { laneId } = await aLane(waiting, { rank: 2 });
      await vacuumQueue();
      const options = { url: database.url, applicationName: 'test', max: 1, plansOnce };
      await using pool = createPool(options);
      const requests = [1, 4, 9, 10].flatMap((take) =>
        [true, false].map((wantsOther) => {
          return { id: laneId, take, recovered: Math.min(5, take), wantsOther, inFlight: [] };
        }),
      );
      for (const rank of [2, 1, 0] as const) {
        await aBacklog(database.db, { laneId, count: 20, rank, url: URL_OF_SHOP });
        for (const request of requests) {
          const { due } = await fetchDue(pool, databaseClock, [request]);
          expect(due).toHaveLength(rank === 2 ? request.recovered : request.take);
          expect(new Set(due.map(({ queueId }) => queueId)).size).toBe(due.length);
          const recovered = due.filter((one) => one.rank === 2);
          expect(recovered.length).toBeLessThanOrEqual(request.recovered);
        }
      }
    },
  );

  test('recovered deliveries go on beside first attempts too', async () => {
    await using receiver = await startReceiver();
    const { laneId, ids: recovered } = await aLane(5, { rank: 2, dueInMs: -60_000 });
    await aBacklog(database.db, { laneId, count: 100, url: URL_OF_SHOP });
    await using _sender = aSender(receiver, { inFlightPerLaneMax: 1 });
    await eventually(() => expect(receiver.requests).toHaveLength(105), 20_000);
    const places = idsAt(receiver).flatMap((id, place) => (recovered.has(id) ? [place] : []));
    expect(places.at(-1)).toBeLessThan(60);
  });
});

describe('among lanes', () => {
  test('one with a long backlog does not hold up those that come later', async () => {
    await using receiver = await startReceiver();
    const many = await aLane(300, { dueInMs: -60_000 });
    await using _sender = aSender(receiver, { inFlightMax: 2, inFlightPerLaneMax: 2 });
    await eventually(() => expect(receiver.requests.length).toBeGreaterThan(10));
    const few = await aLane(5);
    await eventually(() => {
      expect(idsAt(receiver).filter((id) => few.ids.has(id))).toHaveLength(5);
    }, 20_000);
    expect(idsAt(receiver).filter((id) => many.ids.has(id)).length).toBeLessThan(250);
  });

  test('those that hang leave slots to the others, however many they are', async () => {
    const release = Promise.withResolvers<void>();
    await using hanging = await startReceiver((request, response) => {
      void release.promise.then(() => answerWith(200)(request, response));
    });
    await using receiver = await startReceiver();
    for (let count = 0; count < 12; count += 1) {
      const url = 'http://hanging.receiver.example.com/hook';
      const laneId = newId();
      await aBacklog(database.db, { laneId, count: 10, url });
      // They have failed before.
      await database.db.query(sql`update lanes set failure_count = 3 where id = ${laneId}`);
    }
    await using _sender = startTestSender({
      db: database.db,
      receivers: { hanging: hanging.port, shop: receiver.port },
      clock: turnableClock(),
      timeoutMs: 60_000,
      inFlightMax: 16,
    });
    await eventually(() => expect(hanging.requests).toHaveLength(8));
    await aLane(30);
    await eventually(() => expect(receiver.requests).toHaveLength(30));
    expect(hanging.requests).toHaveLength(8);
    release.resolve();
  });
});

describe('among accounts', () => {
  test('one whose receivers do not answer leaves slots to another that comes later', async () => {
    const release = Promise.withResolvers<void>();
    await using hanging = await startReceiver((request, response) => {
      void release.promise.then(() => answerWith(200)(request, response));
    });
    await using receiver = await startReceiver();
    const accountId = newId();
    for (let number = 0; number < 80; number += 1) {
      const url = 'http://hanging.receiver.example.com/hook';
      await aBacklog(database.db, { laneId: newId(), accountId, count: 5, url });
    }
    await using _sender = startTestSender({
      db: database.db,
      receivers: { hanging: hanging.port, shop: receiver.port },
      clock: turnableClock(),
      timeoutMs: 60_000,
    });
    // Of 64 slots; alone it has four fifths.
    await eventually(() => expect(hanging.requests).toHaveLength(52));
    await aLane(30);
    await eventually(() => expect(receiver.requests).toHaveLength(30));
    expect(hanging.requests).toHaveLength(52);
    release.resolve();
  });
});

describe('several senders', () => {
  test('together never have more of a lane in flight than its bound', async () => {
    await using receiver = await startSlow(20);
    await aLane(120);
    await using _first = aSender(receiver, { inFlightMax: 16 });
    await using _second = aSender(receiver, { inFlightMax: 16 });
    await eventually(() => expect(receiver.requests).toHaveLength(120), 20_000);
    expect(receiver.most()).toBeLessThanOrEqual(10);
    expect(new Set(idsAt(receiver)).size).toBe(120);
  });

  test('share the lanes as they come and go, one, two, four; nothing is lost or sent twice', async () => {
    const ids = new Set<string>();
    const lanes = Array.from({ length: 12 }, () => newId());
    const fill = async (): Promise<void> => {
      for (const laneId of lanes) {
        const options = { laneId, count: SHARED_BACKLOG, url: URL_OF_SHOP };
        for (const id of await aBacklog(database.db, options)) ids.add(id);
      }
    };
    await fill();
    await using first = await startSlow(25);
    await using second = await startSlow(25);
    await using third = await startSlow(25);
    await using fourth = await startSlow(25);
    const all = [first, second, third, fourth];
    const sent = () => all.flatMap(idsAt);
    const bounds = { inFlightMax: 8, inFlightPerLaneMax: 4 };
    /** Together they send all of it within seconds: the lanes are filled again until each has had its part. */
    const untilSent = (receiver: Receiver, count: number) =>
      eventually(async () => {
        if (ids.size - sent().length < 12 * 50) await fill();
        expect(receiver.requests.length).toBeGreaterThan(count);
      }, 20_000);
    await using one = aSender(first, bounds);
    await untilSent(first, 40);
    await using _two = aSender(second, bounds);
    await untilSent(second, 40);
    await using _three = aSender(third, bounds);
    await using _four = aSender(fourth, bounds);
    await Promise.all([untilSent(third, 10), untilSent(fourth, 10)]);
    await one[Symbol.asyncDispose]();
    await eventually(() => expect(new Set(sent()).size).toBe(ids.size), 90_000);
    expect(sent().toSorted()).toEqual([...ids].toSorted());
  }, 150_000);

  test('move lanes from one that is short of slots to one that has room, and send nothing twice', async () => {
    await using first = await startSlow(40);
    await using second = await startSlow(40);
    const ids = new Set<string>();
    for (let number = 0; number < 12; number += 1) {
      for (const id of (await aLane(300)).ids) ids.add(id);
    }
    // Its lanes take 48 of 64 slots, so none of them waits for one.
    const bounds = { inFlightMax: 64, inFlightPerLaneMax: 4 };
    const one = aSender(first, bounds);
    await using _one = one;
    await using _first = startTestHeartbeat(database.db, one);
    await eventually(() => {
      expect(one.state().lanes).toBe(12);
      expect(one.state().slotsUsed).toBeGreaterThanOrEqual(40);
    });
    const other = aSender(second, bounds);
    await using _other = other;
    await using _second = startTestHeartbeat(database.db, other);
    await eventually(() => {
      expect(one.state().lanes).toBeLessThanOrEqual(8);
      expect(other.state().lanes).toBeGreaterThanOrEqual(4);
    });
    const sent = () => [first, second].flatMap(idsAt);
    await eventually(() => expect(new Set(sent()).size).toBe(ids.size), 60_000);
    expect(sent().toSorted()).toEqual([...ids].toSorted());
  }, 90_000);

  test('claim at once what a sender returns as it stops', async () => {
    const release = Promise.withResolvers<void>();
    await using first = await startReceiver((request, response) => {
      void release.promise.then(() => answerWith(200)(request, response));
    });
    await using second = await startReceiver();
    await aLane(1);
    await using sender = aSender(first, { leaseMs: 60_000 });
    await eventually(() => expect(first.requests).toHaveLength(1));
    const idle = await aLane(1, { dueInMs: 300 });
    sender.wake();
    const stopped = sender[Symbol.asyncDispose]();
    await using _other = aSender(second);
    await eventually(() => expect(second.requests).toHaveLength(1));
    expect(idsAt(second)).toEqual([...idle.ids]);
    release.resolve();
    await stopped;
    const leased = await database.db.query(sql`
      select id from lanes where leased and claimable_at > now() + interval '30 seconds'`);
    expect(leased).toEqual([]);
  });

  test('take over what a dead one had once its lease has ended, and not before', async () => {
    await using receiver = await startReceiver();
    const { laneId } = await aLane(3);
    const claimed = await claimLanes(database.db, claimOptions({ limit: 100, leaseMs: 2_000 }));
    expect(claimed.map(({ id }) => id)).toContain(laneId);
    const claimedMs = performance.now();
    await using _sender = aSender(receiver);
    await eventually(() => expect(receiver.requests).toHaveLength(3));
    expect(receiver.requests[0]!.receivedMs - claimedMs).toBeGreaterThan(1_900);
    const [lane] = await database.db.query<{ fence: bigint }>(
      sql`select fence from lanes where id = ${laneId}`,
    );
    expect(lane!.fence).toBe(2n);
  });
});
