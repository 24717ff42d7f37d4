import { newId } from '@pixmesh/kernel/ids';
import {
  createPool,
  type Database,
  type Queryable,
  type Transaction,
} from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { databaseClock } from '#schedule-clock.ts';
import { fetchDue } from '#sending/fetch-due.sql.ts';
import { claimOptions, ownLanes } from '#test/claim-options.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { slowed } from '#test/slowed-database.ts';

import { claimLanes, type LaneClaim } from './claim-lanes.sql.ts';
import { lockLanesToQueue, wakeLanes } from './lanes.sql.ts';
import { returnLanes, releaseLanes } from './release-lanes.sql.ts';

const LANES = 3;
const LEASE_MS = 3_600_000;
const HOUR_MS = 3_600_000;
const TAKE = 100;

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  db = createPool({ url: database.url, applicationName: 'test', max: 8 });
});

afterAll(async () => {
  await db[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

type Queueing = { lanes: number[]; isLater: boolean; pausesMs: number[] };
type SenderStep = { kind: 'claim' | 'serve' | 'release' | 'return' | 'die'; pausesMs: number[] };

const pausesMs = fc.array(fc.constantFrom(0, 0, 1, 3), { minLength: 4, maxLength: 4 });
const queueing: fc.Arbitrary<Queueing> = fc.record({
  lanes: fc.uniqueArray(fc.nat({ max: LANES - 1 }), { minLength: 1, maxLength: LANES }),
  isLater: fc.boolean(),
  pausesMs,
});
const step: fc.Arbitrary<SenderStep> = fc.record({
  kind: fc.constantFrom('claim', 'claim', 'serve', 'release', 'release', 'return', 'die'),
  pausesMs,
});

test('whatever queues, serves, releases or dies at the same time, nothing is ever left behind a lane that sleeps', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(queueing, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 3 }),
      fc.array(fc.array(step, { minLength: 3, maxLength: 8 }), { minLength: 2, maxLength: 2 }),
      async (queuers, senders) => {
        await db.query(sql`delete from queue`);
        await db.query(sql`update lanes set leased = false, claimable_at = 'infinity'`);
        const laneIds = Array.from({ length: LANES }, () => newId());
        const queued = new Set<string>();
        const served: string[] = [];
        await Promise.all([
          ...queuers.map(async (steps) => {
            for (const each of steps) for (const id of await queue(laneIds, each)) queued.add(id);
          }),
          ...senders.map((steps) => runSender(steps, served)),
        ]);
        expect(new Set(served).size).toBe(served.length);
        expect(await leftBehind()).toEqual([]);
        // An hour later any sender finds everything.
        await db.query(
          sql`update queue set due_at = now() - interval '1 second' where due_at > now()`,
        );
        await db.query(sql`
          update lanes set claimable_at = claimable_at - interval '2 hours' where claimable_at < 'infinity'`);
        await runSender(
          [...'123'].flatMap(() => [
            { kind: 'claim', pausesMs: [] },
            { kind: 'serve', pausesMs: [] },
          ]),
          served,
        );
        expect(served.toSorted()).toEqual([...queued].toSorted());
      },
    ),
    { numRuns: scaled(8, 1_000) },
  );
}, 600_000);

/** Lanes that would wake later than what is in them is due; a stored time is rounded, by half a millisecond at most. */
async function leftBehind(): Promise<object[]> {
  return await db.query(sql`
    select lanes.id, lanes.claimable_at, min(queue.due_at) as due_at
    from lanes
    join queue on queue.lane_id = lanes.id
    where not lanes.leased
    group by lanes.id
    having lanes.claimable_at > greatest(min(queue.due_at), now() + interval '1 millisecond')`);
}

async function queue(laneIds: readonly string[], step: Queueing): Promise<string[]> {
  const lanes = step.lanes.map((index) => laneIds[index]!);
  return await slowed(db, step.pausesMs).transaction(async (tx) => {
    await lockLanesToQueue(tx, ownLanes(lanes));
    const ids: string[] = [];
    for (const laneId of lanes) ids.push(...(await insertRow(tx, laneId, step.isLater)));
    await wakeLanes(tx, databaseClock, lanes);
    return ids;
  });
}

/** What intake inserts, without its change of the lane. */
async function insertRow(tx: Transaction, laneId: string, isLater: boolean): Promise<string[]> {
  const ids = [newId()];
  await tx.query(sql`
    with event as (
      insert into events (event_id, type, account_id, resource_id, source, sequence, occurred_at, body_rest)
      select id, 'charge.pix.created', id, id, 'api', 1, now(), '' from unnest(${ids}::uuid[]) as new (id)
    )
    insert into queue (id, delivery_id, event_id, lane_id, for_resource_url, due_at)
    select id, id, id, ${laneId}, false, now() + ${isLater ? HOUR_MS : 0}::float8 * interval '1 millisecond'
    from unnest(${ids}::uuid[]) as new (id)`);
  return ids;
}

async function runSender(steps: readonly SenderStep[], served: string[]): Promise<void> {
  let owned: LaneClaim[] = [];
  for (const { kind, pausesMs: pauses } of steps) {
    const slow = slowed(db, pauses);
    if (kind === 'claim') {
      const ids = owned.map(({ id }) => id);
      const options = claimOptions({ limit: 2, leaseMs: LEASE_MS, owned: ids });
      owned.push(...(await claimLanes(slow, options)));
    } else if (kind === 'serve') served.push(...(await serve(slow, owned)));
    else if (kind === 'release') {
      const gone = owned.length === 0 ? new Set() : await releaseLanes(slow, databaseClock, owned);
      owned = owned.filter(({ id }) => !gone.has(id));
    } else {
      if (kind === 'return') await returnLanes(slow, databaseClock, owned);
      else await endLeases(owned);
      owned = [];
    }
  }
  // The last sender serves what there is, as its polling would, and releases until no lock is in the way.
  while (owned.length > 0) {
    served.push(...(await serve(db, owned)));
    const gone = await releaseLanes(db, databaseClock, owned);
    owned = owned.filter(({ id }) => !gone.has(id));
  }
}

/** Takes what is due out of the queue, as outcomes do. */
async function serve(slow: Queryable, owned: readonly LaneClaim[]): Promise<string[]> {
  const requests = owned.map(({ id }) => ({
    id,
    take: TAKE,
    recovered: TAKE,
    wantsOther: false,
    inFlight: [],
  }));
  const { due } = await fetchDue(slow, databaseClock, requests);
  const ids = due.map(({ queueId }) => queueId);
  await slow.query(sql`delete from queue where id = any (${ids}::uuid[])`);
  return ids;
}

/** Time goes by for a sender that is no more. */
async function endLeases(owned: readonly LaneClaim[]): Promise<void> {
  for (const { id, fence } of owned) {
    await db.query(
      sql`update lanes set claimable_at = now() - interval '1 second' where id = ${id} and fence = ${fence} and leased`,
    );
  }
}

test('a backlog as tests store it is awake', async () => {
  await aBacklog(db, { laneId: newId(), count: 2 });
  expect(await leftBehind()).toEqual([]);
});
