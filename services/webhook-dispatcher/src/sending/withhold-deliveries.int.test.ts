import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { updateEndpoint } from '#endpoints/endpoints.sql.ts';
import { aChargeEvent } from '#testing/a-charge-event.ts';
import { genericPlan } from '#testing/generic-plan.ts';
import { readDeliveries, untilDelivery } from '#testing/read-deliveries.ts';
import { answerWith, type Receiver, startReceiver } from '#testing/start-receiver.ts';
import {
  patchEndpoint,
  removeEndpoint,
  storeEndpoint,
  type StoredEndpoint,
} from '#testing/store-endpoint.ts';
import { startTestSender, take, turnableClock } from '#testing/test-sender.ts';

import { type Claim, claimDeliveries, claimStatement } from './claim-deliveries.sql.ts';
import { RETRY_DELAYS_MS } from './retry-schedule.ts';
import { databaseClock, type ScheduleClock } from './schedule-clock.ts';
import {
  PAUSED_LOOK_DELAY_MS,
  withholdDeliveries,
  withholdStatement,
} from './withhold-deliveries.sql.ts';

const SHOP = 'http://shop.receiver.example.com/hook';
const OFFICE = 'http://office.receiver.example.com/hook';
/** More than a claim looks at. */
const FLOOD = 700;

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

async function aSubscribed(changes: Partial<StoredEndpoint> = {}) {
  const endpoint = await storeEndpoint(database.db, { url: SHOP, ...changes });
  const envelope = { account_id: endpoint.accountId, application_id: endpoint.applicationId };
  return { endpoint, anEvent: () => aChargeEvent({ ...envelope, url: null }) };
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

async function claim(clock: ScheduleClock, leaseMs = 60_000): Promise<Claim> {
  const bounds = { limit: 100, leaseMs, perLaneMax: 10, inFlight: new Map<string, number>() };
  return await claimDeliveries(database.db, { clock, ...bounds });
}

async function idsOf(resourceId: string): Promise<string[]> {
  return (await readDeliveries(database.db, resourceId)).map(({ id }) => id);
}

/** How many deliveries of an endpoint senders have put off. */
async function putOff(endpoint: StoredEndpoint): Promise<number> {
  const rows = await database.db.query(sql`
    select id from deliveries
    where endpoint_id = ${endpoint.id} and status = 'pending' and due_at > next_attempt_at and not leased`);
  return rows.length;
}

describe('a paused endpoint', () => {
  test('has its retries wait without an attempt, and they go on when it is active again', async () => {
    await using receiver = await startFailing();
    const clock = turnableClock();
    await using sender = startTestSender({
      db: database.db,
      receivers: { shop: receiver.port },
      clock,
    });
    const { endpoint, anEvent } = await aSubscribed();
    const event = anEvent();
    await take(database.db, event, sender.kick);
    await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }] });
    await setActive(endpoint, false);
    clock.advance(RETRY_DELAYS_MS[0]);
    sender.kick();
    await eventually(async () => expect(await putOff(endpoint)).toBe(1));
    const [waiting] = await readDeliveries(database.db, event.data.id);
    expect(waiting).toMatchObject({ status: 'pending', attempts: [{ number: 1 }] });
    // What waits is not looked at again and again.
    expect(await claim(clock)).toEqual({ claimed: [], withheldIds: [] });
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
    const { endpoint, anEvent } = await aSubscribed();
    const event = anEvent();
    await take(database.db, event);
    await setActive(endpoint, false);
    const { claimed, withheldIds } = await claim(clock);
    expect([claimed, withheldIds]).toEqual([[], await idsOf(event.data.id)]);
    expect(await withholdDeliveries(database.db, clock, withheldIds)).toBe(1);
    await database.db.query(sql`update endpoints set active = true where id = ${endpoint.id}`);
    await using _sender = startTestSender({
      db: database.db,
      receivers: { shop: receiver.port },
      clock,
    });
    clock.advance(PAUSED_LOOK_DELAY_MS);
    await untilDelivery(database.db, event.data.id, { status: 'succeeded' });
  });

  test('has what came meanwhile on record, and never gets it', async () => {
    await using receiver = await startReceiver();
    const clock = turnableClock();
    await using sender = startTestSender({
      db: database.db,
      receivers: { shop: receiver.port },
      clock,
    });
    const { endpoint, anEvent } = await aSubscribed({ active: false });
    const missed = anEvent();
    await take(database.db, missed, sender.kick);
    const skipped = { status: 'skipped', nextAttemptAt: null, attempts: [], url: SHOP };
    await untilDelivery(database.db, missed.data.id, { ...skipped, endpointId: endpoint.id });
    await setActive(endpoint, true);
    const later = anEvent();
    await take(database.db, later, sender.kick);
    await untilDelivery(database.db, later.data.id, { status: 'succeeded' });
    clock.advance(24 * 60 * 60 * 1000);
    expect(await claim(clock)).toEqual({ claimed: [], withheldIds: [] });
    await untilDelivery(database.db, missed.data.id, skipped);
    expect(receiver.requests).toHaveLength(1);
  });

  test('with many deliveries due does not hold up those of others', async () => {
    await using receiver = await startReceiver();
    const { endpoint } = await aSubscribed();
    await database.db.query(sql`
      insert into deliveries (
        id, event_id, destination_id, endpoint_id, account_id, resource_id, event, lane_id,
        next_attempt_at, due_at
      )
      select
        gen_random_uuid(), gen_random_uuid(), ${endpoint.id}, ${endpoint.id}, ${endpoint.accountId},
        gen_random_uuid(), 'charge.pix.created', ${endpoint.id},
        now() - interval '1 hour', now() - interval '1 hour'
      from generate_series(1, ${FLOOD})`);
    await setActive(endpoint, false);
    const other = await aSubscribed({ url: OFFICE });
    const event = other.anEvent();
    await take(database.db, event);
    await using _sender = startTestSender({
      db: database.db,
      receivers: { office: receiver.port },
      clock: turnableClock(),
      inFlightMax: 4,
    });
    await untilDelivery(database.db, event.data.id, { status: 'succeeded' });
    await eventually(async () => expect(await putOff(endpoint)).toBe(FLOOD));
  });
});

describe('an endpoint that becomes active again', () => {
  test('just as its delivery is put off keeps it due', async () => {
    const { endpoint, anEvent } = await aSubscribed();
    const event = anEvent();
    await take(database.db, event);
    await setActive(endpoint, false);
    const ids = await idsOf(event.data.id);
    await database.db.transaction(async (tx) => {
      await updateEndpoint(tx, endpoint, { id: endpoint.id, active: true });
      expect(await withholdDeliveries(database.db, databaseClock, ids)).toBe(0);
    });
    expect((await claim(databaseClock)).claimed.map(({ id }) => id)).toEqual(ids);
  });

  test('right behind that has it due again', async () => {
    const { endpoint, anEvent } = await aSubscribed();
    const event = anEvent();
    await take(database.db, event);
    await setActive(endpoint, false);
    const ids = await idsOf(event.data.id);
    const resumed = await database.db.transaction(async (tx) => {
      expect(await withholdDeliveries(tx, databaseClock, ids)).toBe(1);
      const change = setActive(endpoint, true);
      await eventually(async () => expect(await lockWaits()).toBe(1));
      return { change };
    });
    await resumed.change;
    expect((await claim(databaseClock)).claimed.map(({ id }) => id)).toEqual(ids);
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
    const clock = turnableClock();
    await using sender = startTestSender({
      db: database.db,
      receivers: { shop: receiver.port },
      clock,
    });
    const { endpoint, anEvent } = await aSubscribed();
    const event = anEvent();
    await take(database.db, event, sender.kick);
    await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }] });
    await removeEndpoint(database.db, endpoint);
    receiver.heal();
    clock.advance(24 * 60 * 60 * 1000);
    expect(await claim(clock)).toEqual({ claimed: [], withheldIds: [] });
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
    const { endpoint, anEvent } = await aSubscribed();
    const event = anEvent();
    await take(database.db, event);
    await database.db.query(sql`update endpoints set deleted_at = now() where id = ${endpoint.id}`);
    await using _sender = startTestSender({
      db: database.db,
      receivers: { shop: receiver.port },
      clock: turnableClock(),
    });
    const canceled = { status: 'canceled', nextAttemptAt: null, attempts: [] };
    await untilDelivery(database.db, event.data.id, canceled);
    expect(receiver.requests).toEqual([]);
  });

  test.each([200, 500])(
    'has an attempt in flight (%d) on record, and it stays canceled',
    async (status) => {
      const release = Promise.withResolvers<void>();
      await using receiver = await startReceiver((request, response) => {
        void release.promise.then(() => answerWith(status)(request, response));
      });
      const clock = turnableClock();
      await using sender = startTestSender({
        db: database.db,
        receivers: { shop: receiver.port },
        clock,
      });
      const { endpoint, anEvent } = await aSubscribed();
      const event = anEvent();
      await take(database.db, event, sender.kick);
      await eventually(() => expect(receiver.requests).toHaveLength(1));
      await removeEndpoint(database.db, endpoint);
      await untilDelivery(database.db, event.data.id, { status: 'canceled', attempts: [] });
      release.resolve();
      await untilDelivery(database.db, event.data.id, {
        status: 'canceled',
        nextAttemptAt: null,
        attempts: [{ number: 1, status }],
      });
      clock.advance(24 * 60 * 60 * 1000);
      expect(await claim(clock)).toEqual({ claimed: [], withheldIds: [] });
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
});
