import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { storeRate } from '#rates/delivery-rates.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { claimOptions, ownLanes } from '#test/claim-options.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';

import { CANCELED_PER_STATEMENT_MAX, cancelLanes } from './cancel-lanes.sql.ts';
import { claimLanes, type ClaimedLane, renewLanes, type ClaimOptions } from './claim-lanes.sql.ts';
import { countDueLanes } from './count-due-lanes.sql.ts';
import { lockLanesToQueue, wakeLanes } from './lanes.sql.ts';
import { queueResends } from './queue-resends.sql.ts';
import { returnLanes, releaseLanes } from './release-lanes.sql.ts';

const clock = databaseClock;
/** Of all lanes of a test, where it names no other. */
const ACCOUNT = newId();
const HOUR_MS = 3_600_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

afterEach(async () => {
  await emptyQueue(database.db);
  await database.db.query(
    sql`update lanes set leased = false, waiting = false, claimable_at = 'infinity'`,
  );
});
afterAll(() => database[Symbol.asyncDispose]());

async function claim(changes: Partial<ClaimOptions> = {}) {
  const options = claimOptions({ clock, limit: 100, leaseMs: HOUR_MS, ...changes });
  return await claimLanes(database.db, options);
}

/** "At once" is stored in whole milliseconds, and may be rounded up to the next one. */
async function expectClaims(ids: readonly string[]): Promise<void> {
  const claimed: string[] = [];
  await eventually(async () => {
    claimed.push(...(await claim()).map(({ id }) => id));
    expect(claimed).toEqual(ids);
  });
}

const standInLine = (laneId: string) =>
  database.db.query(sql`update lanes set waiting = true where id = ${laneId}`);

/** Of the same account as the others where none is named. */
async function aLane(count = 1, dueInMs = -1_000, accountId = ACCOUNT): Promise<string> {
  const laneId = newId();
  await aBacklog(database.db, { laneId, count, dueInMs, accountId });
  return laneId;
}

/** In milliseconds from now, to one of them: what is stored as now may lie ahead by a part of it; null for never. */
async function wakesIn(laneId: string): Promise<number | null> {
  const [lane] = await database.db.query<{ ms: number | null }>(sql`
    select case when claimable_at < 'infinity' then floor(extract(epoch from claimable_at - now())::float8 * 1000) end as ms
    from lanes where id = ${laneId}`);
  return lane!.ms;
}

describe('claims of lanes of several accounts', () => {
  /** Numbers of lanes that wait, by account; answers the accounts in their order. */
  async function waiting(counts: readonly number[]): Promise<string[]> {
    const accounts = counts.map(() => newId());
    for (const [place, count] of counts.entries()) {
      for (let number = 0; number < count; number += 1) {
        await aLane(1, -60_000 + 1_000 * number, accounts[place]);
      }
    }
    return accounts;
  }

  test('take one of each in turn, then a second one of each, and go on behind the last one', async () => {
    const [many, few, one] = await waiting([5, 2, 1]);
    const first = await claim({ limit: 4 });
    expect(first.map(({ accountId }) => accountId)).toEqual([many, few, one, many]);
    const second = await claim({ limit: 2, after: many! });
    expect(second.map(({ accountId }) => accountId)).toEqual([few, many]);
    expect((await claim()).map(({ accountId }) => accountId)).toEqual([many, many]);
  });

  test('find an account behind the thousands of another one, and leave those of full accounts', async () => {
    const flood = newId();
    await database.db.query(sql`
      insert into lanes (id, account_id, claimable_at)
      select gen_random_uuid(), ${flood}, now() - interval '1 minute' from generate_series(1, 1000)`);
    // What is due by time joins the line some at a time; what is woken stands there at once.
    const [victim] = await waiting([1]);
    await database.db.query(sql`update lanes set waiting = true where account_id = ${victim!}`);
    const claimed = await claim({ limit: 2 });
    expect(new Set(claimed.map(({ accountId }) => accountId))).toEqual(new Set([flood, victim]));
    const later = await aLane(1, -1_000, victim);
    await eventually(async () => {
      const others = await claim({ limit: 2, waitingAccounts: [flood] });
      expect(others.map(({ id }) => id)).toEqual([later]);
    });
  });
});

test('a claim finds what is due behind accounts whose lanes stand in line and sleep', async () => {
  await database.db.query(sql`
    insert into lanes (id, account_id, waiting) select id, id, true
    from (select gen_random_uuid() as id from generate_series(1, 70)) new`);
  // In the order of ids, behind them.
  const laneId = await aLane(1, -1_000, 'ffffffff-ffff-4fff-bfff-ffffffffffff');
  await database.db.query(sql`update lanes set waiting = true where id = ${laneId}`);
  expect((await claim({ limit: 64 })).map(({ id }) => id)).toEqual([laneId]);
});

test('a lane that was inserted without its account is named when something is queued in it', async () => {
  const [laneId, accountId] = [newId(), newId()];
  await database.db.query(sql`insert into lanes (id) values (${laneId})`);
  await lockLanesToQueue(database.db, [{ id: laneId, accountId }]);
  const [lane] = await database.db.query(sql`select account_id from lanes where id = ${laneId}`);
  expect(lane).toEqual({ account_id: accountId });
});

describe('a claim', () => {
  test('takes lanes in which something is due, those that wait longest first', async () => {
    const [late, early, later] = [
      await aLane(1, -1_000),
      await aLane(1, -5_000),
      await aLane(1, 60_000),
    ];
    expect((await claim({ limit: 1 })).map(({ id }) => id)).toEqual([early]);
    expect((await claim()).map(({ id }) => id)).toEqual([late]);
    expect(await claim()).toEqual([]);
    expect(await wakesIn(later)).toBeGreaterThan(30_000);
  });

  test('of two at once never takes a lane twice', async () => {
    const lanes = await Promise.all(Array.from({ length: 20 }, () => aLane()));
    const claims = await Promise.all([
      claim({ limit: 8 }),
      claim({ limit: 8 }),
      claim({ limit: 8 }),
    ]);
    // What one of them took note of and did not take is for the next claim.
    claims.push(await claim());
    expect(
      claims
        .flat()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(lanes.toSorted());
  });

  test('comes back with the end of its lease under the next fence, unless it is renewed', async () => {
    await aLane();
    const [first] = await claim({ leaseMs: 1 });
    const [second] = await eventually(async () => {
      const found = await claim({ leaseMs: HOUR_MS });
      expect(found).toHaveLength(1);
      return found;
    });
    expect([first?.isTakenOver, second?.isTakenOver]).toEqual([false, true]);
    expect(second!.fence).toBe(first!.fence + 1n);
    const renewed = await renewLanes(database.db, { clock, leaseMs: HOUR_MS, lanes: [first!] });
    expect(renewed).toEqual([]);
    expect(await renewLanes(database.db, { clock, leaseMs: 1, lanes: [second!] })).toEqual([
      expect.objectContaining({ isRenewed: true }),
    ]);
  });

  test('does not wait for transactions that queue, nor take what its own process owns', async () => {
    const laneId = await aLane();
    await database.db.transaction(async (tx) => {
      await lockLanesToQueue(tx, ownLanes([laneId]));
      expect(await claim({ owned: [laneId] })).toEqual([]);
      expect(await claim()).toHaveLength(1);
    });
  });

  test('brings what the breaker of the lane was', async () => {
    const laneId = await aLane();
    await database.db.query(sql`
      update lanes set failure_count = 12, probe_at = now() + interval '1 minute' where id = ${laneId}`);
    const [lane] = await claim();
    expect(lane?.failureCount).toBe(12);
    expect(lane?.probeInMs).toBeGreaterThan(50_000);
  });
});

describe('a lane that is released', () => {
  test('sleeps until its next delivery is due, or for good', async () => {
    const [waiting, empty] = [await aLane(2, -1_000), await aLane()];
    const lanes = await claim();
    await database.db.query(sql`delete from queue where lane_id = ${empty}`);
    await database.db.query(sql`
      update queue set due_at = now() + interval '1 hour', rank = 1 where lane_id = ${waiting}`);
    expect((await releaseLanes(database.db, clock, lanes)).size).toBe(2);
    expect(await wakesIn(empty)).toBeNull();
    expect(Math.round((await wakesIn(waiting))! / 60_000)).toBe(60);
  });

  test('stays owned while a transaction queues for it', async () => {
    const laneId = await aLane();
    const lanes = await claim();
    await database.db.transaction(async (tx) => {
      await lockLanesToQueue(tx, ownLanes([laneId]));
      expect((await releaseLanes(database.db, clock, lanes)).size).toBe(0);
    });
    expect((await releaseLanes(database.db, clock, lanes)).size).toBe(1);
  });

  test('under an older fence stays with its owner', async () => {
    const laneId = await aLane();
    const [lane] = await claim();
    const old: ClaimedLane = { ...lane!, fence: lane!.fence - 1n };
    expect((await releaseLanes(database.db, clock, [old])).size).toBe(1);
    await returnLanes(database.db, clock, [old]);
    const rows = await database.db.query(sql`select id from lanes where id = ${laneId} and leased`);
    expect(rows).toHaveLength(1);
  });

  test('waits for its probe while its breaker is open, and has no probe where nothing waits', async () => {
    const [open, empty] = [await aLane(), await aLane()];
    const lanes = await claim();
    await database.db.query(sql`delete from queue where lane_id = ${empty}`);
    await database.db.query(sql`update lanes set probe_at = now() + interval '1 hour'`);
    await releaseLanes(database.db, clock, lanes);
    expect(Math.round((await wakesIn(open))! / 60_000)).toBe(60);
    expect(await wakesIn(empty)).toBeNull();
    await database.db.query(sql`update lanes set probe_at = null`);
  });

  test('stands behind all that wait where it had no slot for what is due', async () => {
    const [first, second] = [await aLane(1, -60_000), await aLane(1, -1_000)];
    await releaseLanes(database.db, clock, await claim({ limit: 1 }));
    await expectClaims([second, first]);
  });

  test('is the next one for others where it is returned with what is in it', async () => {
    const [first, second] = [await aLane(3, -60_000), await aLane(1, -1_000)];
    const lanes = await claim({ limit: 1 });
    expect(lanes.map(({ id }) => id)).toEqual([first]);
    await returnLanes(database.db, clock, lanes);
    await expectClaims([second, first]);
  });
});

describe('the lane of a disabled endpoint', () => {
  test('sleeps over what waits, but for what an operator sends again', async () => {
    const { id } = await storeEndpoint(database.db, { active: false });
    const [delivery] = await aBacklog(database.db, { laneId: id, count: 3, endpointId: id });
    const parked = await claim();
    await releaseLanes(database.db, clock, parked);
    expect(await wakesIn(id)).toBeNull();
    const queued = await database.db.transaction((tx) =>
      queueResends(tx, clock, { deliveryIds: [delivery!, newId()], recoveryId: null }),
    );
    expect(queued).toEqual([{ deliveryId: delivery, laneId: id, accountId: id }]);
    const [lane] = await claim();
    expect(lane?.id).toBe(id);
    await releaseLanes(database.db, clock, [lane!]);
    expect(await wakesIn(id)).toBeLessThanOrEqual(0);
  });

  test('is taken up at once where the endpoint is deleted, and emptied in batches, due or not', async () => {
    const { id } = await storeEndpoint(database.db, { deletedAt: new Date() });
    const over = 7;
    const count = CANCELED_PER_STATEMENT_MAX + over;
    await aBacklog(database.db, { laneId: id, count, endpointId: id, dueInMs: HOUR_MS });
    await database.db.transaction((tx) => wakeLanes(tx, clock, [id]));
    const lanes = await claim();
    await releaseLanes(database.db, clock, lanes);
    expect(await wakesIn(id)).toBeLessThanOrEqual(0);
    const living = await aLane(2);
    const turn = () => cancelLanes(database.db, [id, living]);
    expect([await turn(), await turn(), await turn()]).toEqual([
      CANCELED_PER_STATEMENT_MAX,
      over,
      0,
    ]);
    const canceled = await database.db.query(sql`
      select id from deliveries where endpoint_id = ${id} and status = 'canceled'`);
    expect(canceled).toHaveLength(count);
    expect(
      await database.db.query(sql`select id from queue where lane_id = ${living}`),
    ).toHaveLength(2);
  });
});

test('the age of what is due is counted by itself in lanes that wait for a sender, and in lanes that are served', async () => {
  await aLane(1, -30_000);
  await aLane(1, -10_000);
  await aLane(1, HOUR_MS);
  // The end of a lease is rounded to the millisecond, perhaps upwards.
  const due = () => countDueLanes(database.db, { clock, leaseMs: HOUR_MS + 1 });
  const waiting = await due();
  expect(waiting).toMatchObject({ count: 2, oldestServedSeconds: 0 });
  expect(waiting.oldestWaitingSeconds).toBeGreaterThanOrEqual(30);
  const claimed = await claim();
  const served = await due();
  expect(served).toMatchObject({ count: 0, oldestWaitingSeconds: 0 });
  expect(served.oldestServedSeconds).toBeGreaterThanOrEqual(30);
  // Behind an open breaker it is a receiver's affair.
  await database.db.query(sql`
    update lanes set probe_at = now() + interval '1 minute' where id = any (${claimed.map(({ id }) => id)}::uuid[])`);
  expect(await due()).toEqual({
    count: 0,
    oldestWaitingSeconds: 0,
    oldestLimitedSeconds: 0,
    oldestServedSeconds: 0,
  });
});

test('lanes that wait for the limit of their account count for none that lacks a sender', async () => {
  const [usedUp, leftAlone, unlimited] = [newId(), newId(), newId()];
  await storeRate(database.db, { accountId: usedUp, perSecondMax: 1, version: 1 });
  await storeRate(database.db, { accountId: leftAlone, perSecondMax: 1, version: 1 });
  // A limit that was removed leaves its row.
  await storeRate(database.db, { accountId: unlimited, perSecondMax: null, version: 1 });
  await database.db.query(sql`
    update delivery_rates set filled_at = now() - interval '4 s' where account_id = ${leftAlone}`);
  await aLane(1, -300_000, usedUp);
  await standInLine(await aLane(1, -600_000, usedUp));
  await aLane(1, -30_000, unlimited);
  await aLane(1, -60_000, leftAlone);
  const due = await countDueLanes(database.db, { clock, leaseMs: HOUR_MS });
  expect(due.count).toBe(2);
  expect(due.oldestWaitingSeconds).toBeGreaterThanOrEqual(60);
  expect(due.oldestWaitingSeconds).toBeLessThan(300);
  expect(due.oldestLimitedSeconds).toBeGreaterThanOrEqual(600);
});

test.each([
  ['waits for senders', null],
  ['waits for its limit', 1],
])(
  'an account with more lanes than are counted, which %s, hides no other’s oldest',
  async (_what, perSecondMax) => {
    const [first, last] = [newId(), newId()].toSorted() as [string, string];
    await storeRate(database.db, { accountId: first, perSecondMax, version: 1 });
    await database.db.query(sql`
      insert into lanes (id, account_id, claimable_at, waiting)
      select gen_random_uuid(), ${first}, now() - interval '30 seconds', true from generate_series(1, 10001)`);
    await standInLine(await aLane(1, -600_000, last));
    const due = await countDueLanes(database.db, { clock, leaseMs: HOUR_MS });
    expect(due.count).toBe(perSecondMax === null ? 10_000 : 1);
    expect(due.oldestWaitingSeconds).toBeGreaterThanOrEqual(600);
  },
);

test('lanes that two make at once are kept awake by both', async () => {
  const laneIds = [newId(), newId()];
  const first = await database.db.transaction(async (tx) => {
    await lockLanesToQueue(tx, ownLanes(laneIds));
    const second = database.db.transaction(async (other) => {
      await lockLanesToQueue(other, ownLanes(laneIds.toReversed()));
      const [lane] = laneIds;
      await database.db.query(sql`update lanes set leased = true, fence = 1 where id = ${lane}`);
      const claims = [{ id: lane!, fence: 1n }];
      return (await releaseLanes(database.db, clock, claims)).size;
    });
    await eventually(async () => {
      const waits = await database.db.query(sql`
        select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%lanes_insert%'`);
      expect(waits).toHaveLength(1);
    });
    return { second };
  });
  expect(await first.second).toBe(0);
});
