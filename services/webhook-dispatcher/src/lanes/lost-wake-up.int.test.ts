import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database, type Transaction } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { countLockWaits } from '@pixmesh/testkit/lock-waits';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { deliveryIdOf } from '#deliveries/delivery-id-of.ts';
import { insertEventsAtOnce, type NewEvent } from '#intake/insert-events.sql.ts';
import { databaseClock } from '#schedule-clock.ts';

import { claimLanes, type ClaimedLane } from './claim-lanes.sql.ts';
import { lockLanesToQueue, wakeLanes } from './lanes.sql.ts';
import { releaseLanes } from './release-lanes.sql.ts';
import { claimOptions, ownLanes } from '#test/claim-options.ts';

const LEASE_MS = 60_000;
const CONNECTIONS = 8;

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  db = createPool({ url: database.url, applicationName: 'lost-wake-up', max: CONNECTIONS });
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Work in steps, each begun when the test starts it. */
type Actor = { step(): Promise<void>; isDone(): boolean };

/** Work that stops at every `pause` until the test goes on. */
function anActor(work: (pause: () => Promise<void>) => Promise<void>): Actor {
  let resume = Promise.withResolvers<void>();
  let arrival = Promise.withResolvers<void>();
  let done = false;
  const running = run();
  return {
    isDone: () => done,
    step: async () => {
      arrival = Promise.withResolvers();
      resume.resolve();
      await arrival.promise;
      if (done) await running;
    },
  };

  async function run(): Promise<void> {
    try {
      await pause();
      await work(pause);
    } finally {
      done = true;
      arrival.resolve();
    }
  }

  async function pause(): Promise<void> {
    resume = Promise.withResolvers();
    arrival.resolve();
    await resume.promise;
  }
}

async function queue(tx: Transaction, laneId: string): Promise<void> {
  await tx.query(sql`
    insert into queue (id, delivery_id, event_id, lane_id, for_resource_url)
    select id, id, id, ${laneId}, true from (select gen_random_uuid() as id) as new`);
}

/** As intake queues; `lock` is the one that the rule is about. */
function aQueuer(laneId: string, lock = lockLanesToQueue): Actor {
  return anActor((pause) =>
    db.transaction(async (tx) => {
      const owned = await lock(tx, ownLanes([laneId]));
      await pause();
      await queue(tx, laneId);
      await pause();
      if (!owned.has(laneId)) await wakeLanes(tx, databaseClock, [laneId]);
      await pause();
    }),
  );
}

/** As intake queues in a lane that it believes to be owned, which it may not be any more; its commit takes a while. */
function aHastyQueuer(laneId: string): Actor {
  return anActor(async (pause) => {
    const stored = await db.transaction(async (tx) => {
      const input = { events: [anEventIn(laneId)], laneIds: [laneId], endpoints: [] };
      const added = await insertEventsAtOnce(tx, databaseClock, input);
      await pause();
      return added;
    });
    if (stored !== null) return;
    const careful = aQueuer(laneId);
    while (!careful.isDone()) await careful.step();
  });
}

function anEventIn(laneId: string): NewEvent {
  const [eventId, resourceId] = [newId(), newId()];
  return {
    eventId,
    type: 'charge.pix.created',
    accountId: laneId,
    applicationId: null,
    resourceId,
    source: 'api',
    sequence: 1,
    occurredAt: new Date().toISOString(),
    traceparent: null,
    own: { url: 'https://shop.example/', sealedSecret: null },
    bodyRest: Buffer.from('}'),
    deliveries: [
      {
        id: deliveryIdOf(eventId, resourceId),
        destinationId: resourceId,
        endpointId: null,
        forResourceUrl: false,
        laneId,
        status: 'pending',
      },
    ],
  };
}

/** As a sender takes a lane, sends what it sees and lets the lane go, some times. */
function aSender(laneId: string, turns: number): Actor {
  const claims = claimOptions({ limit: 10, leaseMs: LEASE_MS });
  return anActor(async (pause) => {
    let owned: ClaimedLane | undefined;
    for (let turn = 0; turn < turns; turn += 1) {
      owned ??= (await claimLanes(db, claims)).find(({ id }) => id === laneId);
      await pause();
      if (owned === undefined) continue;
      await db.query(sql`delete from queue where lane_id = ${laneId}`);
      await pause();
      const gone = await releaseLanes(db, databaseClock, [owned]);
      if (gone.has(laneId)) owned = undefined;
      await pause();
    }
  });
}

/** The owner of a lane reads again; a lane without one must be claimable where something is due; times are rounded. */
async function isForgotten(laneId: string): Promise<boolean> {
  const [found] = await db.query<{ forgotten: boolean }>(sql`
    select exists (select from queue where lane_id = ${laneId})
      and not exists (
        select from lanes where id = ${laneId} and (leased or claimable_at <= now() + interval '1 millisecond')
      ) as forgotten`);
  return found!.forgotten;
}

/** Lets the actors step in the order of `turns`, then to their ends. Who waits for a lock goes on when it can. */
async function interleave(actors: readonly Actor[], turns: readonly number[]): Promise<void> {
  const waiting = new Map<Actor, Promise<void>>();
  for (const turn of turns) await stepOf(actors[turn]!);
  for (;;) {
    const open = actors.filter((actor) => !actor.isDone());
    if (open.length === 0) break;
    const next = open.find((actor) => !waiting.has(actor));
    await (next === undefined ? Promise.race(waiting.values()) : stepOf(next));
  }

  async function stepOf(actor: Actor): Promise<void> {
    if (actor.isDone() || waiting.has(actor)) return;
    const stepping = actor.step().finally(() => waiting.delete(actor));
    waiting.set(actor, stepping);
    // It is left alone once more wait for locks than before it began.
    while (waiting.has(actor) && (await countLockWaits(db)) < waiting.size);
    stepping.catch(() => undefined);
    if (!waiting.has(actor)) await stepping;
  }
}

/** A lane that does not exist yet, that sleeps, or in which a delivery is due. */
async function aLane(state: 'new' | 'asleep' | 'due'): Promise<string> {
  const laneId = newId();
  if (state === 'new') return laneId;
  const at = state === 'due' ? sql`now() - interval '1 second'` : sql`'infinity'`;
  await db.query(
    sql`insert into lanes (id, account_id, claimable_at) values (${laneId}, ${laneId}, ${at})`,
  );
  return laneId;
}

test('queueing and releasing, in whatever order: no delivery is left behind', async () => {
  const states = fc.constantFrom('new', 'asleep', 'due', 'due');
  const turns = fc.array(fc.nat({ max: 4 }), { maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(states, turns, async (state, order) => {
      const laneId = await aLane(state);
      const senders = [aSender(laneId, 3), aSender(laneId, 2)];
      const queuers = [aQueuer(laneId), aQueuer(laneId), aHastyQueuer(laneId)];
      await interleave([...senders, ...queuers], order);
      expect(await isForgotten(laneId)).toBe(false);
      await db.query(sql`delete from queue where lane_id = ${laneId}`);
    }),
    { numRuns: scaled(25, 3_000) },
  );
}, 600_000);

test('two who make the same lane at once both keep it awake', async () => {
  const laneId = await aLane('new');
  const [one, other, sender] = [aQueuer(laneId), aQueuer(laneId), aSender(laneId, 1)];
  // The other waits for the one, whose lane it does not see; then the lane is claimed, emptied and released beside it.
  await interleave([one, other, sender], [0, 1, 0, 0, 0, 2, 2, 1, 1, 2, 1]);
  expect(await isForgotten(laneId)).toBe(false);
});

test('a lane is not released while what was stored in it at once is being committed', async () => {
  const laneId = await aLane('due');
  await interleave([aSender(laneId, 1), aHastyQueuer(laneId)], [0, 0, 1, 0, 1]);
  expect(await isForgotten(laneId)).toBe(false);
  const queued = await db.query(sql`select id from queue where lane_id = ${laneId}`);
  expect(queued).toHaveLength(1);
});

test('what is stored at once waits for nothing in a lane that is owned, and is not stored in one that sleeps', async () => {
  const [owned, asleep] = [await aLane('due'), await aLane('asleep')];
  await claimLanes(db, claimOptions({ limit: 10, leaseMs: LEASE_MS }));
  const store = async (...laneIds: string[]) =>
    await insertEventsAtOnce(db, databaseClock, {
      events: laneIds.map(anEventIn),
      laneIds,
      endpoints: [],
    });
  expect(await store(owned)).toHaveLength(1);
  expect(await store(asleep)).toBeNull();
  expect(await store(owned, asleep)).toBeNull();
  expect(await store(owned, newId())).toBeNull();
  const rows = await db.query(
    sql`select lane_id from queue where lane_id in (${owned}, ${asleep})`,
  );
  expect(rows).toEqual([{ lane_id: owned }]);
});

test('it is the lock that keeps the lane: without it the delivery is forgotten', async () => {
  const laneId = await aLane('due');
  const sender = aSender(laneId, 1);
  const queuer = aQueuer(laneId, async () => new Set());
  await interleave([sender, queuer], [0, 1, 1, 1, 0, 0, 1]);
  expect(await isForgotten(laneId)).toBe(true);
});
