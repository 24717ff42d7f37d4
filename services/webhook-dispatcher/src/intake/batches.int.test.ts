import { systemClock } from '@pixmesh/kernel/clock';
import { AppError } from '@pixmesh/kernel/app-error';
import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { countLockWaits } from '@pixmesh/testkit/lock-waits';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { deliveryIdOf } from '#deliveries/delivery-id-of.ts';
import { laneOf } from '#lanes/lane-of.ts';
import { databaseClock } from '#schedule-clock.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { readStoredDeliveries } from '#test/stored-deliveries.ts';
import { patchEndpoint, removeStoredEndpoint, storeEndpoint } from '#test/store-endpoint.ts';
import { OWNS_ALL, take } from '#test/store-event.ts';
import { watchDatabase } from '#test/watch-database.ts';

import { createAccountsBehind } from './accounts-behind.ts';
import { createIntake } from './intake.ts';
import type { ResourceEvent } from './read-event.ts';

const OWN = 'http://own.receiver.example.com/hook';
const ELSEWHERE = 'http://elsewhere.receiver.example.com/hook';
const LONG_AGO_MS = 3_600_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

function aCaller() {
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  const envelope = { account_id: owner.accountId, application_id: owner.applicationId };
  const events = (count: number, changes: Parameters<typeof aChargeEvent>[0] = {}) =>
    Array.from({ length: count }, () => aChargeEvent({ ...envelope, url: OWN, ...changes }));
  return { owner, envelope, events };
}

/** What events made that no other test publishes, by event. */
async function countOf(events: readonly ResourceEvent[]): Promise<number[]> {
  return await Promise.all(
    events.map(async ({ event_id }) => (await readStoredDeliveries(database.db, event_id)).length),
  );
}

const watched = (before?: (name: string) => Promise<void>) => watchDatabase(database.db, before);

describe('events that come together', () => {
  test('cost as many statements as one, however many they are', async () => {
    const { owner, events } = aCaller();
    await storeEndpoint(database.db, { ...owner, url: ELSEWHERE });
    await take(database.db, events(1));
    const db = watched();
    const many = events(200);
    await take(db, many);
    expect(db.seen).toEqual({
      statements: [
        'endpoints_of_audiences',
        'lanes_lock_to_queue',
        'endpoints_when_events_happened',
        'events_insert',
        'lanes_wake',
      ],
      transactions: 1,
    });
    expect(await countOf(many)).toEqual(Array(200).fill(2));
  });

  test('cost two statements where only their own URLs receive them, in lanes of this process', async () => {
    const { envelope, events } = aCaller();
    await take(database.db, events(1));
    await database.db.query(
      sql`update lanes set leased = true where id = ${laneOf(envelope.account_id, OWN)}`,
    );
    const db = watched();
    const many = events(20);
    const twice = [...many, ...many];
    await take(db, twice, { sender: OWNS_ALL });
    await take(db, many, { sender: OWNS_ALL });
    const statements = ['endpoints_of_audiences', 'events_insert_at_once'];
    expect(db.seen).toEqual({ statements: [...statements, ...statements], transactions: 0 });
    expect(await countOf(many)).toEqual(Array(20).fill(1));
  });

  test('are stored by a transaction where a lane has been released meanwhile, and wake it', async () => {
    const { envelope, events } = aCaller();
    const laneId = laneOf(envelope.account_id, OWN);
    await take(database.db, events(1));
    await database.db.query(
      sql`update lanes set leased = false, claimable_at = 'infinity' where id = ${laneId}`,
    );
    const many = events(20);
    await take(database.db, many, { sender: OWNS_ALL });
    expect(await countOf(many)).toEqual(Array(20).fill(1));
    const awake = await database.db.query(
      sql`select id from lanes where id = ${laneId} and claimable_at <= now()`,
    );
    expect(awake).toHaveLength(1);
  });

  test('make one delivery per event and destination, under the one id of the pair', async () => {
    const { owner, events } = aCaller();
    const { id } = await storeEndpoint(database.db, { ...owner, url: ELSEWHERE });
    const [event] = events(1);
    await take(database.db, [event!, event!, event!]);
    const ids = [deliveryIdOf(event!.event_id, id), deliveryIdOf(event!.event_id, event!.data.id)];
    const written = await readStoredDeliveries(database.db, event!.event_id);
    expect(written.map((delivery) => delivery.id)).toEqual(ids.toSorted());
  });

  test('are stored whatever one among them is like: only that one is refused', async () => {
    const { events } = aCaller();
    const many = events(20);
    const bad = { ...many[7]!, sequence: 2 ** 40 };
    const intake = anIntake(database.db);
    const results = await Promise.allSettled(many.with(7, bad).map((event) => intake.take(event)));
    expect(results.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))).toEqual([7]);
    expect(results[7]).toMatchObject({ reason: { code: 'MESSAGE_INVALID' } });
    expect(await countOf(many)).toEqual(Array(20).fill(1).with(7, 0));
  });

  test('are cut into transactions that end, where many endpoints of several accounts receive them', async () => {
    const callers = [aCaller(), aCaller(), aCaller()];
    for (const { owner } of callers) {
      for (let count = 0; count < 100; count += 1) await storeEndpoint(database.db, owner);
    }
    const db = watched();
    const many = callers.flatMap(({ events }) => events(8, { url: null }));
    await take(db, many);
    expect(db.seen.transactions).toBe(3);
    expect(await countOf(many)).toEqual(Array(24).fill(100));
  });

  test('and are stored by two at once, in any order, make one set of deliveries', async () => {
    const { owner, events } = aCaller();
    for (let count = 0; count < 3; count += 1) await storeEndpoint(database.db, owner);
    const many = events(100);
    await Promise.all([
      take(database.db, many),
      take(database.db, many.toReversed()),
      take(database.db, many.slice(50)),
    ]);
    expect(await countOf(many)).toEqual(Array(100).fill(4));
    const lanes = await database.db.query<{ count: number }>(sql`
      select count(*)::int as count from queue
      where event_id = any (${many.map(({ event_id }) => event_id)}::uuid[])`);
    expect(lanes).toEqual([{ count: 400 }]);
  });
});

function anIntake(
  db: Database,
  wakeSenders: (laneIds: readonly string[]) => void = () => undefined,
) {
  const parts = { clock: systemClock, scheduleClock: databaseClock, isDispatched: () => true };
  const behind = createAccountsBehind({ notify: () => undefined });
  return createIntake({ db, ...parts, wakeSenders, sender: null, behind });
}

describe('while the database is away', () => {
  test('everything comes again, nothing is refused, and nothing is stored twice', async () => {
    const { events } = aCaller();
    const many = events(30);
    let isAway = true;
    const intake = anIntake(
      watched(async (name) => {
        if (isAway && name === 'lanes_wake') throw new AppError('DEPENDENCY_UNAVAILABLE');
      }),
    );
    const away = await Promise.allSettled(many.map((event) => intake.take(event)));
    for (const result of away) {
      expect(result).toMatchObject({ reason: { code: 'DEPENDENCY_UNAVAILABLE' } });
    }
    expect(await countOf(many)).toEqual(Array(30).fill(0));
    isAway = false;
    await Promise.all(many.map((event) => intake.take(event)));
    expect(await countOf(many)).toEqual(Array(30).fill(1));
  });

  test('an answer that does not blame the events is not held against them', async () => {
    const { events } = aCaller();
    const intake = anIntake(
      watched(async (name) => {
        const timeLimit = Object.assign(new Error('canceling statement'), { code: '57014' });
        if (name === 'events_insert') throw timeLimit;
      }),
    );
    for (const event of events(2)) {
      await expect(intake.take(event)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    }
  });
});

describe('senders are woken', () => {
  test('of the lanes in which something is due, once it can be seen', async () => {
    const { owner, envelope, events } = aCaller();
    const same = await storeEndpoint(database.db, { ...owner, url: OWN });
    const other = await storeEndpoint(database.db, { ...owner, url: ELSEWHERE });
    await storeEndpoint(database.db, { ...owner, url: ELSEWHERE, active: false });
    const [one] = events(1);
    const woken: { laneIds: string[]; visible: Promise<number[]> }[] = [];
    const intake = anIntake(database.db, (laneIds) => {
      woken.push({ laneIds: laneIds.toSorted(), visible: countOf([one!]) });
    });
    await intake.take(one!);
    expect(woken.map(({ laneIds }) => laneIds)).toEqual([
      [laneOf(envelope.account_id, OWN), other.id].toSorted(),
    ]);
    expect(await woken[0]?.visible).toEqual([3]);
    expect(same.url).toBe(OWN);
  });

  test('of nothing where everything is skipped', async () => {
    const { owner, events } = aCaller();
    await storeEndpoint(database.db, { ...owner, active: false });
    const woken: (readonly string[])[] = [];
    await anIntake(database.db, (laneIds) => void woken.push(laneIds)).take(
      events(1, { url: null })[0]!,
    );
    expect(woken).toEqual([]);
  });
});

describe('an endpoint that changes while an event is stored', () => {
  /** Runs the change between the two reads of the endpoints. */
  async function takeDuring(event: ResourceEvent, change: () => Promise<void>): Promise<void> {
    let changed = false;
    const db = watched(async (name) => {
      if (changed || name !== 'lanes_lock_to_queue') return;
      changed = true;
      await change();
    });
    await anIntake(db).take(event);
    expect(changed).toBe(true);
  }

  const oldEvent = (envelope: object) =>
    aChargeEvent({ ...envelope, url: OWN, occurred_at: ago(LONG_AGO_MS) });

  test('and is deleted receives nothing', async () => {
    const { owner, envelope } = aCaller();
    const endpoint = await storeEndpoint(database.db, { ...owner, url: ELSEWHERE });
    const event = oldEvent(envelope);
    await takeDuring(event, () => removeStoredEndpoint(database.db, endpoint));
    expect(await readStoredDeliveries(database.db, event.event_id)).toMatchObject([
      { endpoint: null },
    ]);
  });

  test('and moves to the URL of the resource stands for it from then on', async () => {
    const { owner, envelope } = aCaller();
    const endpoint = await storeEndpoint(database.db, { ...owner, url: ELSEWHERE });
    const event = oldEvent(envelope);
    await takeDuring(event, () => patchEndpoint(database.db, endpoint, { url: OWN }));
    expect(await readStoredDeliveries(database.db, event.event_id)).toMatchObject([
      { endpoint: endpoint.id, forOwn: true, laneId: laneOf(envelope.account_id, OWN) },
    ]);
  });

  test('and is paused is compared by when the event happened', async () => {
    const { owner, envelope } = aCaller();
    const endpoint = await storeEndpoint(database.db, { ...owner, url: ELSEWHERE });
    const [before, after] = [
      oldEvent(envelope),
      aChargeEvent({ ...envelope, url: null, occurred_at: ago(-LONG_AGO_MS) }),
    ];
    await takeDuring(before, () => patchEndpoint(database.db, endpoint, { active: false }));
    await take(database.db, after);
    const waits = (await readStoredDeliveries(database.db, before.event_id)).find(
      (row) => row.endpoint,
    );
    expect(waits).toMatchObject({ status: 'pending', isQueued: true });
    expect(await readStoredDeliveries(database.db, after.event_id)).toMatchObject([
      { status: 'skipped', isQueued: false },
    ]);
  });

  test('waits with its change until what was decided on it is stored', async () => {
    const { owner, envelope } = aCaller();
    const endpoint = await storeEndpoint(database.db, { ...owner, url: ELSEWHERE });
    const event = aChargeEvent({ ...envelope, url: null });
    const order: string[] = [];
    const pause = async (): Promise<void> => {
      await patchEndpoint(database.db, endpoint, { active: false });
      order.push('paused');
    };
    let changing: Promise<void> | undefined;
    const db = watched(async (name) => {
      if (name !== 'events_insert') return;
      changing = pause();
      await expect.poll(() => countLockWaits(database.db)).toBeGreaterThan(0);
      order.push('stored');
    });
    await anIntake(db).take(event);
    await changing;
    expect(order).toEqual(['stored', 'paused']);
    expect(await readStoredDeliveries(database.db, event.event_id)).toMatchObject([
      { status: 'pending' },
    ]);
  });
});

function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}

describe('an event that no partition takes', () => {
  test('waits where it is an event of now', async () => {
    await using own = await createTestDatabase('webhook_dispatcher');
    await using admin = createPool({ url: own.adminUrl, applicationName: 'test', max: 1 });
    await admin.query(sql`select set_config('search_path', 'webhook_dispatcher', false)`);
    await dropPartitions(admin);
    const event = aChargeEvent();
    const intake = anIntake(own.db);
    await expect(intake.take(event)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await admin.query(sql`
    create table events_now partition of events
    for values from ('01000000-0000-7000-8000-000000000000') to ('02000000-0000-7000-8000-000000000000')`);
    await intake.take(event);
    expect(await readStoredDeliveries(own.db, event.event_id)).toHaveLength(1);
  });

  test.each(['00000000-0001-7000-8000-000000000001', 'ffffffff-ffff-7000-8000-000000000001'])(
    'and none ever will is refused and never stored, beside others that are (%s)',
    async (eventId) => {
      await using own = await createTestDatabase('webhook_dispatcher');
      await using admin = createPool({ url: own.adminUrl, applicationName: 'test', max: 1 });
      await admin.query(sql`select set_config('search_path', 'webhook_dispatcher', false)`);
      await dropPartitions(admin);
      await admin.query(sql`
        create table events_now partition of events
        for values from ('01000000-0000-7000-8000-000000000000') to ('02000000-0000-7000-8000-000000000000')`);
      const [bad, good] = [aChargeEvent({ event_id: eventId }), aChargeEvent()];
      const intake = anIntake(own.db);
      const [refused, stored] = await Promise.allSettled([intake.take(bad), intake.take(good)]);
      expect(refused).toMatchObject({
        reason: {
          code: 'MESSAGE_INVALID',
          message: expect.stringContaining('older than the retained history') as string,
        },
      });
      expect(stored.status).toBe('fulfilled');
      expect(await readStoredDeliveries(own.db, good.event_id)).toHaveLength(1);
      const rows = await own.db.query(sql`select event_id from events`);
      expect(rows).toEqual([{ event_id: good.event_id }]);
    },
  );

  async function dropPartitions(admin: Database): Promise<void> {
    await admin.query(sql`
      do $$
      declare
        part regclass;
      begin
        for part in select inhrelid::regclass from pg_inherits where inhparent = 'events'::regclass loop
          execute format('drop table %s', part);
        end loop;
      end
      $$`);
  }
});
