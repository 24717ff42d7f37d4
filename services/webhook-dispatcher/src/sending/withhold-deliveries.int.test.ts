import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { deleteEndpoint, updateEndpoint } from '#endpoints/endpoints.sql.ts';
import type { ResourceEvent } from '#intake/store-event.ts';
import { aChargeEvent } from '#testing/a-charge-event.ts';
import { genericPlan } from '#testing/generic-plan.ts';
import { readDeliveries, untilDelivery } from '#testing/read-deliveries.ts';
import { answerWith, type Receiver, startReceiver } from '#testing/start-receiver.ts';
import {
  patchEndpoint,
  removeStoredEndpoint,
  storeEndpoint,
  type StoredEndpoint,
} from '#testing/store-endpoint.ts';
import { startSenderTo, take, turnableClock } from '#testing/test-sender.ts';

import { type Claim, claimDeliveries, claimStatement } from './claim-deliveries.sql.ts';
import { RETRY_DELAYS_MS } from './retry-schedule.ts';
import { databaseClock, type ScheduleClock } from './schedule-clock.ts';
import {
  PAUSED_LOOK_DELAY_MS,
  WITHHELD_PER_TURN_MAX,
  withholdDeliveries,
  withholdStatement,
} from './withhold-deliveries.sql.ts';

const SHOP = 'http://shop.receiver.example.com/hook';
const OFFICE = 'http://office.receiver.example.com/hook';
const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;
const NOTHING: Claim = { claimed: [], quietEndpointIds: [] };

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

/** Leaves nothing behind for the next test. */
afterEach(async () => {
  await database.db.query(
    sql`update deliveries set status = 'canceled', next_attempt_at = null where status = 'pending'`,
  );
});

afterAll(() => database[Symbol.asyncDispose]());

const toShop = (receiver: Receiver) => startSenderTo(database.db, { shop: receiver });

async function aSubscribed(changes: Partial<StoredEndpoint> = {}) {
  const endpoint = await storeEndpoint(database.db, { url: SHOP, ...changes });
  const envelope = { account_id: endpoint.accountId, application_id: endpoint.applicationId };
  return { endpoint, anEvent: () => aChargeEvent({ ...envelope, url: null }) };
}

/** An endpoint and an event that waits for it. */
async function aWaiting(kick?: () => void): Promise<{
  endpoint: StoredEndpoint;
  event: ResourceEvent;
}> {
  const { endpoint, anEvent } = await aSubscribed();
  const event = anEvent();
  await take(database.db, event, kick);
  return { endpoint, event };
}

/** Deliveries to an endpoint that come due in `dueInMs`, as intake leaves them. */
async function aFlood(endpoint: StoredEndpoint, count: number, dueInMs: number): Promise<void> {
  await database.db.query(sql`
    insert into deliveries (
      id, event_id, destination_id, endpoint_id, account_id, resource_id, event, lane_id,
      next_attempt_at, due_at
    )
    select
      gen_random_uuid(), gen_random_uuid(), ${endpoint.id}, ${endpoint.id}, ${endpoint.accountId},
      gen_random_uuid(), 'charge.pix.created', ${endpoint.id}, due, due
    from (select now() + ${dueInMs}::float8 * interval '1 millisecond' as due) schedule,
      generate_series(1, ${count}::int)`);
}

async function setActive(endpoint: StoredEndpoint, active: boolean): Promise<void> {
  await patchEndpoint(database.db, endpoint, { active });
}

/** Fails until it is told otherwise. */
async function startFailing(): Promise<Receiver & { heal(): void }> {
  let status = 500;
  const receiver = await startReceiver((request, response) =>
    answerWith(status)(request, response),
  );
  return {
    ...receiver,
    heal: () => {
      status = 200;
    },
  };
}

async function claim(clock: ScheduleClock): Promise<Claim> {
  const bounds = { limit: 100, leaseMs: 60_000, perLaneMax: 10 };
  return await claimDeliveries(database.db, { clock, ...bounds, inFlight: new Map() });
}

async function idsOf({ data }: ResourceEvent): Promise<string[]> {
  return (await readDeliveries(database.db, data.id)).map(({ id }) => id);
}

/** How many deliveries of an endpoint senders have put off. */
async function putOff(endpoint: StoredEndpoint): Promise<number> {
  const rows = await database.db.query(sql`
    select id from deliveries
    where endpoint_id = ${endpoint.id} and status = 'pending' and due_at > next_attempt_at and not leased`);
  return rows.length;
}

async function countOf(endpoint: StoredEndpoint, status: string): Promise<number> {
  const rows = await database.db.query(sql`
    select id from deliveries where endpoint_id = ${endpoint.id} and status = ${status}`);
  return rows.length;
}

describe('a paused endpoint', () => {
  test('has its retries wait without an attempt, and they go on when it is active again', async () => {
    await using receiver = await startFailing();
    await using sender = toShop(receiver);
    const { endpoint, event } = await aWaiting(sender.kick);
    await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }] });
    await setActive(endpoint, false);
    sender.advance(RETRY_DELAYS_MS[0]);
    await eventually(async () => expect(await putOff(endpoint)).toBe(1));
    const [waiting] = await readDeliveries(database.db, event.data.id);
    expect(waiting).toMatchObject({ status: 'pending', attempts: [{ number: 1 }] });
    // What waits is not looked at again and again.
    expect(await claim(sender.clock)).toEqual(NOTHING);
    receiver.heal();
    await setActive(endpoint, true);
    sender.kick();
    await untilDelivery(database.db, event.data.id, {
      status: 'succeeded',
      attempts: [{ number: 1 }, { number: 2 }],
    });
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.requests[1]!.body.equals(receiver.requests[0]!.body)).toBe(true);
  });

  test('has its deliveries looked at again after a while, should its resumption go unnoticed', async () => {
    await using receiver = await startReceiver();
    const clock = turnableClock();
    const { endpoint, event } = await aWaiting();
    await setActive(endpoint, false);
    const { claimed, quietEndpointIds } = await claim(clock);
    expect([claimed, quietEndpointIds]).toEqual([[], [endpoint.id]]);
    expect(await withholdDeliveries(database.db, clock, quietEndpointIds)).toBe(1);
    // As a process leaves it that dies right behind the first commit.
    await updateEndpoint(database.db, endpoint, { id: endpoint.id, active: true });
    expect(await claim(clock)).toEqual(NOTHING);
    await using sender = startSenderTo(database.db, { shop: receiver }, { clock });
    sender.advance(PAUSED_LOOK_DELAY_MS);
    await untilDelivery(database.db, event.data.id, { status: 'succeeded' });
  });

  test('that is said to be active once more has what was left behind come forward', async () => {
    const { endpoint, event } = await aWaiting();
    await setActive(endpoint, false);
    await withholdDeliveries(database.db, databaseClock, [endpoint.id]);
    await updateEndpoint(database.db, endpoint, { id: endpoint.id, active: true });
    await setActive(endpoint, true);
    expect((await claim(databaseClock)).claimed.map(({ id }) => id)).toEqual(await idsOf(event));
  });

  test('has what came meanwhile on record, and never gets it', async () => {
    await using receiver = await startReceiver();
    await using sender = toShop(receiver);
    const { endpoint, anEvent } = await aSubscribed();
    await setActive(endpoint, false);
    const missed = anEvent();
    await take(database.db, missed, sender.kick);
    const skipped = { status: 'skipped', nextAttemptAt: null, attempts: [], url: SHOP };
    await untilDelivery(database.db, missed.data.id, { ...skipped, endpointId: endpoint.id });
    await setActive(endpoint, true);
    const later = anEvent();
    await take(database.db, later, sender.kick);
    await untilDelivery(database.db, later.data.id, { status: 'succeeded' });
    sender.clock.advance(DAY_MS);
    expect(await claim(sender.clock)).toEqual(NOTHING);
    await untilDelivery(database.db, missed.data.id, skipped);
    expect(receiver.requests).toHaveLength(1);
  });

  test('gets what happened before the pause and was heard of only then, once it is resumed', async () => {
    await using receiver = await startReceiver();
    await using sender = toShop(receiver);
    const { endpoint, anEvent } = await aSubscribed();
    const event = anEvent();
    await eventually(() => expect(Date.now()).toBeGreaterThan(Date.parse(event.occurred_at)));
    await setActive(endpoint, false);
    await take(database.db, event, sender.kick);
    await eventually(async () => expect(await putOff(endpoint)).toBe(1));
    expect(receiver.requests).toEqual([]);
    await setActive(endpoint, true);
    sender.kick();
    await untilDelivery(database.db, event.data.id, { status: 'succeeded' });
  });

  test('with many deliveries due does not hold up those of others', async () => {
    await using receiver = await startReceiver();
    const { endpoint } = await aSubscribed();
    // More than a claim looks at.
    await aFlood(endpoint, 700, -HOUR_MS);
    await setActive(endpoint, false);
    const other = await aSubscribed({ url: OFFICE });
    const event = other.anEvent();
    await take(database.db, event);
    await using _sender = startSenderTo(database.db, { office: receiver }, { inFlightMax: 4 });
    await untilDelivery(database.db, event.data.id, { status: 'succeeded' });
    await eventually(async () => expect(await putOff(endpoint)).toBe(700));
  });

  test('has thousands of deliveries put off in one turn, and no more than the bound', async () => {
    const { endpoint } = await aSubscribed();
    const [over, later] = [7, 11];
    await aFlood(endpoint, WITHHELD_PER_TURN_MAX + over, -HOUR_MS);
    await aFlood(endpoint, later, HOUR_MS);
    await setActive(endpoint, false);
    const { quietEndpointIds } = await claim(databaseClock);
    const turn = () => withholdDeliveries(database.db, databaseClock, quietEndpointIds);
    expect([await turn(), await turn(), await turn()]).toEqual([WITHHELD_PER_TURN_MAX, over, 0]);
    expect(await putOff(endpoint)).toBe(WITHHELD_PER_TURN_MAX + over);
    expect(await countOf(endpoint, 'pending')).toBe(WITHHELD_PER_TURN_MAX + over + later);
  });

  test('is one of many in a turn, whose bound they share', async () => {
    const endpoints = [(await aSubscribed()).endpoint, (await aSubscribed()).endpoint];
    for (const endpoint of endpoints) {
      await aFlood(endpoint, WITHHELD_PER_TURN_MAX - 1, -HOUR_MS);
      await setActive(endpoint, false);
    }
    const ids = endpoints.map(({ id }) => id);
    const turn = () => withholdDeliveries(database.db, databaseClock, ids);
    expect([await turn(), await turn(), await turn()]).toEqual([
      WITHHELD_PER_TURN_MAX,
      WITHHELD_PER_TURN_MAX - 2,
      0,
    ]);
  });
});

describe('an endpoint that becomes active again', () => {
  test('just as its delivery is put off keeps it due', async () => {
    const { endpoint, event } = await aWaiting();
    await setActive(endpoint, false);
    await database.db.transaction(async (tx) => {
      await updateEndpoint(tx, endpoint, { id: endpoint.id, active: true });
      expect(await withholdDeliveries(database.db, databaseClock, [endpoint.id])).toBe(0);
    });
    expect((await claim(databaseClock)).claimed.map(({ id }) => id)).toEqual(await idsOf(event));
  });

  test('right behind that has it due again', async () => {
    const { endpoint, event } = await aWaiting();
    await setActive(endpoint, false);
    const resumed = await database.db.transaction(async (tx) => {
      expect(await withholdDeliveries(tx, databaseClock, [endpoint.id])).toBe(1);
      const change = setActive(endpoint, true);
      await eventually(async () => expect(await lockWaits()).toBe(1));
      return { change };
    });
    await resumed.change;
    expect((await claim(databaseClock)).claimed.map(({ id }) => id)).toEqual(await idsOf(event));
  });

  async function lockWaits(): Promise<number> {
    const rows = await database.db.query(sql`
      select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%endpoint_update%'`);
    return rows.length;
  }
});

describe('a deleted endpoint', () => {
  test('has its waiting retries canceled and their history kept', async () => {
    await using receiver = await startFailing();
    await using sender = toShop(receiver);
    const { endpoint, event } = await aWaiting(sender.kick);
    await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }] });
    await removeStoredEndpoint(database.db, endpoint);
    receiver.heal();
    sender.clock.advance(DAY_MS);
    expect(await claim(sender.clock)).toEqual(NOTHING);
    await untilDelivery(database.db, event.data.id, {
      status: 'canceled',
      nextAttemptAt: null,
      url: SHOP,
      attempts: [{ number: 1, status: 500 }],
    });
    expect(receiver.requests).toHaveLength(1);
  });

  test('has a delivery canceled that was stored as it was deleted', async () => {
    await using receiver = await startReceiver();
    const { endpoint, event } = await aWaiting();
    await deleteEndpoint(database.db, endpoint, endpoint.id);
    await using _sender = toShop(receiver);
    const canceled = { status: 'canceled', nextAttemptAt: null, attempts: [] };
    await untilDelivery(database.db, event.data.id, canceled);
    expect(receiver.requests).toEqual([]);
  });

  test('by a process that died right behind the first commit has all canceled once one is due', async () => {
    const { endpoint } = await aWaiting();
    await aFlood(endpoint, 300, HOUR_MS);
    await deleteEndpoint(database.db, endpoint, endpoint.id);
    const { claimed, quietEndpointIds } = await claim(databaseClock);
    expect([claimed, quietEndpointIds]).toEqual([[], [endpoint.id]]);
    expect(await withholdDeliveries(database.db, databaseClock, quietEndpointIds)).toBe(301);
    expect(await countOf(endpoint, 'canceled')).toBe(301);
  });

  // The second way is that of a sender which meets what the request did not reach.
  const ways = {
    'by the request': removeStoredEndpoint,
    'by a sender': async (db: TestDatabase['db'], endpoint: StoredEndpoint) => {
      await deleteEndpoint(db, endpoint, endpoint.id);
      expect(await withholdDeliveries(db, databaseClock, [endpoint.id])).toBe(1);
    },
  };
  test.each([
    { status: 200, way: 'by the request' },
    { status: 500, way: 'by the request' },
    { status: 500, way: 'by a sender' },
  ] as const)(
    'has an attempt in flight ($status) on record, and it stays canceled $way',
    async ({ status, way }) => {
      const release = Promise.withResolvers<void>();
      await using receiver = await startReceiver((request, response) => {
        void release.promise.then(() => answerWith(status)(request, response));
      });
      await using sender = toShop(receiver);
      const { endpoint, event } = await aWaiting(sender.kick);
      await eventually(() => expect(receiver.requests).toHaveLength(1));
      await ways[way](database.db, endpoint);
      await untilDelivery(database.db, event.data.id, { status: 'canceled', attempts: [] });
      release.resolve();
      await untilDelivery(database.db, event.data.id, {
        status: 'canceled',
        nextAttemptAt: null,
        attempts: [{ number: 1, status }],
      });
      sender.clock.advance(DAY_MS);
      expect(await claim(sender.clock)).toEqual(NOTHING);
    },
  );
});

test('claims go through indexes alone, also by a plan made while the tables were empty', async () => {
  await using empty = await createTestDatabase('webhook_dispatcher');
  const options = {
    clock: databaseClock,
    limit: 10,
    leaseMs: 1_000,
    perLaneMax: 10,
    inFlight: new Map<string, number>(),
  };
  const claims = await genericPlan(empty.db, claimStatement(options));
  expect(claims.scans).toEqual([]);
  expect(claims.text.match(/deliveries_due/g)).toHaveLength(1);
  expect(claims.text).toContain('endpoints_pkey');
  expect(claims.text).toContain('destinations_pkey');
  const withheld = await genericPlan(empty.db, withholdStatement(databaseClock, []));
  expect(withheld.scans).toEqual([]);
  // A range that begins with what is due longest: what is put off already is not read again.
  expect(withheld.text).toMatch(
    /using deliveries_endpoint_pending on deliveries\n *Index Cond: \(\(endpoint_id = quiet.id\) AND \(due_at <= /,
  );
  expect(withheld.text).not.toContain('Sort');
  // The rows themselves by one array of keys, which is not gone through again for each of them.
  expect(withheld.text.match(/Index Cond: \(id = ANY \(\(InitPlan/g)).toHaveLength(2);
  expect(withheld.text).not.toContain('id = picked.id');
});
