import { setImmediate } from 'node:timers/promises';

import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { QueuedDelivery } from '#attempts/due-delivery.ts';
import type { LocalSender } from '#intake/store-events.ts';
import { laneOf } from '#lanes/lane-of.ts';
import { storeRate } from '#rates/delivery-rates.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { untilDelivery } from '#test/listed-deliveries.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { answerWith, hang, type Receiver, startReceiver } from '#test/start-receiver.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';
import { sealingKeys } from '#test/test-dispatcher.ts';
import { startSenderTo } from '#test/test-sender.ts';

import { fetchDue } from './fetch-due.sql.ts';

const SHOP = 'http://shop.receiver.example.com/hook';
const OFFICE = 'http://office.receiver.example.com/hook';
const SECRET = 'whsec_endpoint_0001';
const OWN_SECRET = 'whsec_resource_0001';
/** Deliveries that come beside a sender's turns. */
const BESIDE_TURNS = scaled(300, 10_000);
const AT_ONCE = 5;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterEach(() => emptyQueue(database.db));
afterAll(() => database[Symbol.asyncDispose]());

/** An account that nobody else has; events of its charges. */
function aMerchant() {
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  const envelope = { account_id: owner.accountId, application_id: owner.applicationId };
  const secret = { clear: OWN_SECRET, publicKey: sealingKeys.publicKey };
  return {
    owner,
    laneId: laneOf(owner.accountId, SHOP),
    anEvent: (changes: Parameters<typeof aChargeEvent>[0] = {}) =>
      aChargeEvent({ ...envelope, url: SHOP, secret, ...changes }),
  };
}

const idsAt = ({ requests }: Receiver) =>
  requests.map(({ headers }) => String(headers['x-webhook-delivery']));

describe('what is queued', () => {
  /** Keeps what it is given, and begins nothing. */
  const keep = (queued: QueuedDelivery[], isOwner: boolean): LocalSender => ({
    serves: () => isOwner,
    prepareSends: () => (deliveries) => {
      queued.push(...deliveries);
      return [];
    },
  });

  test.each([
    { to: 'the URL of its resource', url: SHOP, endpoint: null, secret: null },
    { to: 'an endpoint', url: null, endpoint: OFFICE, secret: SECRET },
    { to: 'an endpoint without a secret', url: null, endpoint: OFFICE, secret: null },
    { to: 'both', url: SHOP, endpoint: OFFICE, secret: SECRET },
  ])('for $to is what a fetch finds', async ({ url, endpoint, secret }) => {
    const { owner, anEvent, laneId } = aMerchant();
    if (endpoint !== null) {
      await storeEndpoint(database.db, { ...owner, url: endpoint, secret });
    }
    const first = anEvent({ url });
    const second = { ...anEvent({ url }), data: first.data, sequence: 2 };
    const queued: QueuedDelivery[] = [];
    await take(database.db, first, { sender: keep(queued, false) });
    // From here on it needs no transaction, where no endpoint subscribes.
    await database.db.query(sql`update lanes set leased = true where id = ${laneId}`);
    await take(database.db, second, { sender: keep(queued, true) });
    const requests = [...new Set(queued.map((delivery) => delivery.laneId))].map((id) => ({
      id,
      take: 10,
      recovered: 0,
      wantsOther: false,
      inFlight: [],
    }));
    const { due } = await fetchDue(database.db, databaseClock, requests);
    expect(due).toHaveLength(url === null || endpoint === null ? 2 : 4);
    const found = due.map((one) => ({
      ...one,
      // What a fetch says of lanes.
      isDeleted: undefined,
      fetchedAtMs: expect.any(Number),
      eventAgeSeconds: expect.any(Number),
      // Without a secret it names nothing.
      secretOwnerId: one.sealedSecret === null ? expect.any(String) : one.secretOwnerId,
    }));
    const byQueueId = (one: { queueId: string }, other: { queueId: string }) =>
      one.queueId < other.queueId ? -1 : 1;
    const handed = queued.flatMap((delivery) => delivery.due ?? []);
    expect(handed.toSorted(byQueueId)).toEqual(found.toSorted(byQueueId));
    for (const { fetchedAtMs, eventAgeSeconds } of handed) {
      expect(Math.abs(fetchedAtMs - due[0]!.fetchedAtMs)).toBeLessThan(10_000);
      expect(eventAgeSeconds).toBeLessThanOrEqual(due[0]!.eventAgeSeconds);
    }
  });

  test.each([{ pausedBefore: 'the event' }, { pausedBefore: 'it is taken in' }])(
    'for an endpoint that was paused before $pausedBefore is not sent',
    async ({ pausedBefore }) => {
      const { owner, anEvent } = aMerchant();
      const pausedAt = pausedBefore === 'the event' ? null : new Date(Date.now() + 60_000);
      const paused = { ...owner, url: OFFICE, secret: SECRET, active: false, pausedAt };
      const { id } = await storeEndpoint(database.db, paused);
      const queued: QueuedDelivery[] = [];
      await take(database.db, anEvent({ url: null }), { sender: keep(queued, false) });
      expect(queued).toEqual(pausedAt === null ? [] : [{ laneId: id, due: null }]);
    },
  );

  test('for an endpoint that stands for the URL of its resource, too, is left to a fetch', async () => {
    const { owner, anEvent, laneId } = aMerchant();
    await storeEndpoint(database.db, { ...owner, url: SHOP, secret: SECRET });
    const queued: QueuedDelivery[] = [];
    await take(database.db, anEvent(), { sender: keep(queued, false) });
    expect(queued).toEqual([{ laneId, due: null }]);
  });
});

describe('a sender of the same process', () => {
  test('begins what is queued in an idle lane of its own, which nobody is woken for', async () => {
    await using receiver = await startReceiver();
    await using sender = startSenderTo(database.db, { shop: receiver });
    const { anEvent } = aMerchant();
    const events = Array.from({ length: 20 }, () => anEvent());
    let wakeUps = 0;
    for (const event of events) {
      const wakeSenders = (laneIds: readonly string[]): void => {
        wakeUps += 1;
        sender.wake(laneIds);
      };
      await take(database.db, event, { sender, wakeSenders });
      await untilDelivery(database.db, event.data.id, { status: 'succeeded' });
    }
    expect(receiver.requests).toHaveLength(events.length);
    // The first one claims the lane. A turn may be under way when another one comes.
    expect(wakeUps).toBeLessThan(events.length / 2);
  });

  test(
    'sends everything once, however it comes beside the turns',
    { timeout: 300_000 },
    async () => {
      await using receiver = await startReceiver();
      await using sender = startSenderTo(database.db, { shop: receiver });
      const merchants = Array.from({ length: 4 }, aMerchant);
      for (let count = 0; count < BESIDE_TURNS; count += AT_ONCE) {
        const events = Array.from({ length: AT_ONCE }, (_, place) =>
          merchants[(count + place) % merchants.length]!.anEvent(),
        );
        const stored = take(database.db, events, { sender, wakeSenders: sender.wake });
        if (count % 3 === 0) sender.wake();
        await stored;
        await setImmediate();
      }
      await eventually(async () => {
        expect(receiver.requests.length).toBeGreaterThanOrEqual(BESIDE_TURNS);
        expect(await database.db.query(sql`select id from queue`)).toEqual([]);
      }, 60_000);
      expect(new Set(idsAt(receiver)).size).toBe(receiver.requests.length);
    },
  );

  test('leaves it to a turn where the account has a limit', async () => {
    await using receiver = await startReceiver();
    await using sender = startSenderTo(database.db, { shop: receiver });
    const { anEvent, owner, laneId } = aMerchant();
    const rate = { accountId: owner.accountId, perSecondMax: 100, version: 1 };
    await storeRate(database.db, rate);
    expect(await wokenFor({ sender, receiver }, anEvent)).toEqual([laneId]);
  });

  test('leaves it to a turn where its lane fails', async () => {
    await using receiver = await startReceiver(answerWith(500));
    await using sender = startSenderTo(database.db, { shop: receiver });
    const { anEvent, laneId } = aMerchant();
    expect(await wokenFor({ sender, receiver }, anEvent)).toEqual([laneId]);
  });

  test('leaves it to a turn where the lane has no room', async () => {
    await using receiver = await startReceiver(hang);
    const bounds = { inFlightPerLaneMax: 1 };
    await using sender = startSenderTo(database.db, { shop: receiver }, bounds);
    const { anEvent, laneId } = aMerchant();
    const sending = { sender, receiver, isRecorded: false };
    expect(await wokenFor(sending, anEvent)).toEqual([laneId]);
  });

  /** The lanes that a second event wakes senders for, once the receiver has the first one of its lane. */
  async function wokenFor(
    { sender, receiver, isRecorded = true }: SendingTo,
    anEvent: () => ReturnType<typeof aChargeEvent>,
  ): Promise<string[]> {
    const first = anEvent();
    await take(database.db, first, { wakeSenders: sender.wake });
    await eventually(async () => {
      expect(receiver.requests).toHaveLength(1);
      const attempts = await database.db.query(sql`
        select from attempts
        where delivery_id in (select id from deliveries where event_id = ${first.event_id})`);
      expect(attempts).toHaveLength(isRecorded ? 1 : 0);
    });
    const woken: string[] = [];
    await take(database.db, anEvent(), { sender, wakeSenders: (ids) => void woken.push(...ids) });
    return woken;
  }
});

type SendingTo = {
  sender: ReturnType<typeof startSenderTo>;
  receiver: Receiver;
  /** Whether the attempt of the first one ends. */
  isRecorded?: boolean;
};
