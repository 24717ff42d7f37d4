import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { RETRY_DELAYS_MS } from '#attempts/retry-schedule.ts';
import { deleteEndpoint } from '#endpoints/endpoints.sql.ts';
import { queueResends } from '#lanes/queue-resends.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { readDeliveries, untilDelivery } from '#test/listed-deliveries.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { answerWith, startFailingReceiver, startReceiver } from '#test/start-receiver.ts';
import {
  patchEndpoint,
  removeStoredEndpoint,
  storeEndpoint,
  type StoredEndpoint,
} from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { startSenderTo } from '#test/test-sender.ts';

import { fetchDue } from './fetch-due.sql.ts';

const SHOP = 'http://shop.receiver.example.com/hook';
const OFFICE = 'http://office.receiver.example.com/hook';
const HOUR_MS = 3_600_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

afterEach(() => emptyQueue(database.db));
afterAll(() => database[Symbol.asyncDispose]());

async function aSubscribed({ url = SHOP } = {}) {
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  const endpoint = await storeEndpoint(database.db, { ...owner, url });
  const anEvent = () =>
    aChargeEvent({ account_id: owner.accountId, application_id: owner.applicationId, url: null });
  return { endpoint, anEvent };
}

async function untilParked({ id }: Pick<StoredEndpoint, 'id'>): Promise<void> {
  await eventually(async () => {
    const rows = await database.db.query(sql`
      select id from lanes where id = ${id} and not leased and claimable_at = 'infinity'`);
    expect(rows).toHaveLength(1);
  });
}

describe('a paused endpoint', () => {
  test('has its retries wait without an attempt, and they go on when it is active again', async () => {
    await using receiver = await startFailingReceiver();
    await using sender = startSenderTo(database.db, { shop: receiver });
    const { endpoint, anEvent } = await aSubscribed();
    const event = anEvent();
    await take(database.db, event, { wakeSenders: sender.wake });
    await untilDelivery(database.db, event.data.id, { attempts: [{ number: 1 }] });
    await patchEndpoint(database.db, endpoint, { active: false });
    sender.advance(RETRY_DELAYS_MS[0]);
    await untilParked(endpoint);
    const waiting = { status: 'pending', attempts: [{ number: 1 }] };
    expect(await readDeliveries(database.db, event.data.id)).toMatchObject([waiting]);
    receiver.heal();
    await patchEndpoint(database.db, endpoint, { active: true });
    sender.wake();
    await untilDelivery(database.db, event.data.id, {
      status: 'succeeded',
      attempts: [{ number: 1 }, { number: 2 }],
    });
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.requests[1]!.body.equals(receiver.requests[0]!.body)).toBe(true);
  });

  test('gets what an operator sends again, and nothing else of a long backlog', async () => {
    await using receiver = await startReceiver();
    await using _sender = startSenderTo(database.db, { shop: receiver });
    const { endpoint } = await aSubscribed();
    await patchEndpoint(database.db, endpoint, { active: false });
    const { id } = endpoint;
    const ids = await aBacklog(database.db, { laneId: id, endpointId: id, count: 700 });
    await untilParked(endpoint);
    const resend = { deliveryIds: [ids[350]!], recoveryId: null };
    for (let times = 0; times < 2; times += 1) {
      await database.db.transaction((tx) => queueResends(tx, databaseClock, resend));
    }
    await eventually(() => expect(receiver.requests).toHaveLength(2));
    const sent = receiver.requests.map(({ headers }) => headers['x-webhook-delivery']);
    expect(sent).toEqual([ids[350], ids[350]]);
    await untilParked(endpoint);
    expect(await database.db.query(sql`select id from queue where lane_id = ${id}`)).toHaveLength(
      699,
    );
  });

  test('gives single re-sends first, and of recovered deliveries no more than their share', async () => {
    const { endpoint } = await aSubscribed();
    await patchEndpoint(database.db, endpoint, { active: false });
    const { id } = endpoint;
    const deliveryIds = await aBacklog(database.db, { laneId: id, endpointId: id, count: 20 });
    const recoveryId = newId();
    await database.db.transaction(async (tx) => {
      await queueResends(tx, databaseClock, { deliveryIds, recoveryId });
      const single = { deliveryIds: deliveryIds.slice(-1), recoveryId: null };
      await queueResends(tx, databaseClock, single);
    });
    for (const recovered of [3, 0]) {
      const request = { id, take: 10, recovered, wantsOther: false, inFlight: [] };
      const { due } = await fetchDue(database.db, databaseClock, [request]);
      const shares = Array.from({ length: recovered }, () => recoveryId);
      expect(due.map((one) => one.recoveryId)).toEqual([null, ...shares]);
    }
  });

  test('with many deliveries due does not delay those of others', async () => {
    await using receiver = await startReceiver();
    const { endpoint } = await aSubscribed();
    await patchEndpoint(database.db, endpoint, { active: false });
    const { id } = endpoint;
    await aBacklog(database.db, { laneId: id, endpointId: id, count: 700, dueInMs: -HOUR_MS });
    const { anEvent } = await aSubscribed({ url: OFFICE });
    const event = anEvent();
    await take(database.db, event);
    await using _sender = startSenderTo(database.db, { office: receiver }, { inFlightMax: 4 });
    await untilDelivery(database.db, event.data.id, { status: 'succeeded' });
    await untilParked(endpoint);
  });
});

/**
 * An endpoint that was deleted over so many deliveries, and one more that is due: it may come in at the same moment.
 */
async function aDeletedWithBacklog(count: number): Promise<StoredEndpoint['id']> {
  const { endpoint } = await aSubscribed();
  const { id } = endpoint;
  await aBacklog(database.db, { laneId: id, endpointId: id, count, dueInMs: HOUR_MS });
  await database.db.transaction((tx) => deleteEndpoint(tx, endpoint, id));
  await aBacklog(database.db, { laneId: id, endpointId: id, count: 1 });
  return id;
}

describe('a deleted endpoint', () => {
  test('with very much to cancel does not delay the deliveries of others', async () => {
    await using receiver = await startReceiver();
    await using sender = startSenderTo(database.db, { office: receiver });
    const { anEvent } = await aSubscribed({ url: OFFICE });
    const count = 60_000;
    const id = await aDeletedWithBacklog(count);
    const countLeft = async () => {
      const rows = await database.db.query<{ left: number }>(
        sql`select count(*)::int as left from queue where lane_id = ${id}`,
      );
      return rows[0]!.left;
    };
    await eventually(async () => expect(await countLeft()).toBeLessThan(count));
    await take(database.db, anEvent(), { wakeSenders: sender.wake });
    await eventually(() => expect(receiver.requests).toHaveLength(1));
    expect(await countLeft()).toBeGreaterThan(0);
  });

  test('has everything canceled that waits for it, due or not, also where its process died over it', async () => {
    await using receiver = await startReceiver();
    await using _sender = startSenderTo(database.db, { shop: receiver });
    const count = 1_300;
    const id = await aDeletedWithBacklog(count);
    await eventually(async () => {
      const rows = await database.db.query(sql`
        select id from deliveries where endpoint_id = ${id} and status = 'canceled'`);
      expect(rows).toHaveLength(count + 1);
    });
    await untilParked({ id });
    expect(receiver.requests).toEqual([]);
  });

  test.each([200, 500])(
    'has an attempt in flight (%i) on record, and its delivery stays canceled',
    async (status) => {
      const release = Promise.withResolvers<void>();
      await using receiver = await startReceiver((request, response) => {
        void release.promise.then(() => answerWith(status)(request, response));
      });
      await using sender = startSenderTo(database.db, { shop: receiver });
      const { endpoint, anEvent } = await aSubscribed();
      const event = anEvent();
      await take(database.db, event, { wakeSenders: sender.wake });
      await eventually(() => expect(receiver.requests).toHaveLength(1));
      await removeStoredEndpoint(database.db, endpoint);
      sender.wake();
      await untilDelivery(database.db, event.data.id, { status: 'canceled', attempts: [] });
      release.resolve();
      await untilDelivery(database.db, event.data.id, {
        status: 'canceled',
        nextAttemptAt: null,
        attempts: [{ number: 1, status }],
      });
      expect(await database.db.query(sql`select id from queue`)).toEqual([]);
    },
  );
});
