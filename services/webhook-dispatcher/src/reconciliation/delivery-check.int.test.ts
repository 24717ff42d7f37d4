import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import type { Scope } from '@pixmesh/reconciliation/check';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { databaseClock } from '#schedule-clock.ts';
import { genericPlan } from '#test/generic-plan.ts';
import { idAt, queueDelivery, readLane } from '#test/queued-deliveries.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';

import { deliveryCheck } from './delivery-check.ts';
import { deliveriesStatement, lanesStatement } from './delivery-check.sql.ts';

const LONG_DUE_MS = -2 * 60_000;
const SOON_MS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const FULL = { since: null, knownIds: [] };
const INCREMENTAL = { since: new Date(), knownIds: [] };

let database: TestDatabase;
let woken: string[];
let check: ReturnType<typeof deliveryCheck>;

beforeEach(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  woken = [];
  check = deliveryCheck({
    db: database.db,
    clock: databaseClock,
    wakeSenders: (laneIds) => void woken.push(...laneIds),
  });
});
afterEach(() => database[Symbol.asyncDispose]());

describe.each([
  { run: 'a full run', scope: FULL },
  { run: 'an incremental run', scope: INCREMENTAL },
])('$run', ({ scope }) => {
  test('finds nothing where everything that is pending can be sent, or waits for what it has to', async () => {
    const claimable = await aLane({ claimableInMs: LONG_DUE_MS });
    await queueDelivery(database.db, { endpointId: claimable, dueInMs: LONG_DUE_MS });
    const leased = await aLane({ claimableInMs: SOON_MS, leased: true });
    await queueDelivery(database.db, { endpointId: leased, dueInMs: LONG_DUE_MS });
    const broken = await aLane({ claimableInMs: SOON_MS, probeInMs: SOON_MS });
    await queueDelivery(database.db, { endpointId: broken, dueInMs: LONG_DUE_MS, rank: 1 });
    const later = await aLane({ claimableInMs: SOON_MS });
    await queueDelivery(database.db, { endpointId: later, dueInMs: SOON_MS, rank: 1 });
    const disabled = await aLane({ active: false });
    await queueDelivery(database.db, { endpointId: disabled, dueInMs: LONG_DUE_MS });
    const idle = await aLane({});
    for (const status of ['succeeded', 'failed', 'skipped', 'canceled']) {
      await queueDelivery(database.db, { endpointId: idle, status, dueInMs: null });
    }
    expect((await run(scope)).breaks).toEqual([]);
  });

  test('finds a lane that sleeps over what is due, for ever or until too late', async () => {
    const lanes = [await aLane({}), await aLane({ claimableInMs: SOON_MS })];
    for (const id of lanes) {
      await queueDelivery(database.db, { endpointId: id, dueInMs: LONG_DUE_MS, rank: 1 });
    }
    const { breaks } = await run(scope);
    expect(breaks).toHaveLength(2);
    expect(breaks).toEqual(
      expect.arrayContaining(
        lanes.map((id) => ({ kind: 'state', id, expected: 'claimable', found: 'asleep' })),
      ),
    );
    expect(woken).toEqual([]);
  });

  test('finds a pending delivery that is in no queue, and one that has had all its attempts', async () => {
    const endpointId = await aLane({ claimableInMs: SOON_MS });
    const lost = await queueDelivery(database.db, { endpointId, dueInMs: null });
    const over = await queueDelivery(database.db, { endpointId, rank: 1 });
    const last = await queueDelivery(database.db, { endpointId, rank: 1 });
    await countAttempts(over, 8);
    await countAttempts(last, 7);
    expect((await run(scope)).breaks).toEqual([
      { kind: 'missing_right', id: lost, expected: 'queued' },
      { kind: 'sum', id: over, expected: '8', found: '8' },
    ]);
  });
});

test('a lane that is found asleep again is shown, and woken', async () => {
  const id = await aLane({});
  await queueDelivery(database.db, { endpointId: id, dueInMs: LONG_DUE_MS });
  const known = { ...INCREMENTAL, knownIds: [id] };
  expect((await run(known)).breaks).toMatchObject([{ kind: 'state', id }]);
  expect(woken).toEqual([id]);
  expect(await readLane(database.db, id)).toMatchObject({ wakes: 'now' });
  expect((await run(known)).breaks).toEqual([]);
});

test('an incremental run compares one part of the deliveries, the next run the next, and what was found again', async () => {
  await endedDeliveries(1_000);
  const endpointId = await aLane({});
  const id = await queueDelivery(database.db, { endpointId, dueInMs: null });
  expect((await run(INCREMENTAL)).breaks).toEqual([]);
  expect((await run(INCREMENTAL)).breaks).toMatchObject([{ id }]);
  expect((await run({ ...INCREMENTAL, knownIds: [id] })).breaks).toMatchObject([{ id }]);
  expect((await run(FULL)).breaks).toMatchObject([{ id }]);
});

test('a page of lanes or deliveries is read by its keys', async () => {
  const page = { after: newId(), limit: 1_000 };
  for (const statement of [lanesStatement(databaseClock, page), deliveriesStatement(page)]) {
    expect((await genericPlan(database.db, statement)).scans).toEqual([]);
  }
});

async function run(scope: Omit<Scope, 'signal'>) {
  return await check.run({ ...scope, signal: new AbortController().signal });
}

/** An endpoint's lane; it sleeps where it says no time. */
async function aLane(given: {
  claimableInMs?: number;
  probeInMs?: number;
  leased?: boolean;
  active?: boolean;
}): Promise<string> {
  const { claimableInMs = null, probeInMs = null, leased = false, active = true } = given;
  const { id } = await storeEndpoint(database.db, { active });
  await database.db.query(sql`
    insert into lanes (id, account_id, leased, claimable_at, probe_at)
    values (
      ${id}, ${newId()}, ${leased},
      coalesce(now() + ${claimableInMs}::float8 * interval '1 millisecond', 'infinity'),
      now() + ${probeInMs}::float8 * interval '1 millisecond'
    )
    on conflict (id) do update
    set leased = excluded.leased, claimable_at = excluded.claimable_at, probe_at = excluded.probe_at`);
  return id;
}

async function countAttempts(id: string, count: number): Promise<void> {
  await database.db.query(sql`update queue set attempt_count = ${count} where id = ${id}`);
}

/** Of yesterday. */
async function endedDeliveries(count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => idAt(Date.now() - DAY_MS));
  await database.db.query(sql`
    insert into deliveries (id, event_id, destination_id, account_id, resource_id, event, lane_id, status)
    select id, id, id, id, id, 'charge.pix.paid', id, 'succeeded' from unnest(${ids}::uuid[]) as ended (id)`);
}
