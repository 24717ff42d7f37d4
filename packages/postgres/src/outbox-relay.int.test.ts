import { ReceivedPixCredited } from '@pixmesh/contracts/messages/ledger-event.v1';
import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { appendEvents, type OutboundEvent, outboundEvent } from './events.ts';
import { type PublishableEvent, relayOnce, startOutboxRelay } from './outbox-relay.ts';
import { createPool, type Database, type Queryable } from './pool.ts';
import { sql } from './sql.ts';

const logger = createLogger('relay-test', 'silent');
let database: TestDatabase;
let admin: Database;
let db: Database;
let published: PublishableEvent[];

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  admin = createPool({ url: database.adminUrl, applicationName: 'relay-test', max: 1 });
  db = database.db;
});

beforeEach(async () => {
  await admin.query(sql`truncate ledger.events, ledger.outbox`);
  published = [];
});

afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('an event is published once its transaction has committed, as it was appended, and not before', async () => {
  const event = anEvent('account-1', 1);
  await db.transaction(async (tx) => {
    await append(tx, [event]);
    expect(await relayOnce({ db, publish })).toBe(0);
  });
  expect(await relayOnce({ db, publish })).toBe(1);
  expect(published).toEqual([{ ...event, traceparent: null }]);
  expect(await relayOnce({ db, publish })).toBe(0);
});

test('nothing is appended when the guard finds nothing', async () => {
  const events = appendEvents(sql`select from guard`, [anEvent('account-1', 1)]);
  await db.query(sql`with guard as (select where false), ${events} select from guard`);
  expect(await relayOnce({ db, publish })).toBe(0);
  expect(await db.query(sql`select from events`)).toEqual([]);
});

test('events of one statement go on in traces of their own', async () => {
  const traces = ['1', '2'].map((digit) => `00-${digit.repeat(32)}-00f067aa0ba902b7-01`);
  const events: OutboundEvent[] = [
    ...traces.map((traceparent, index) => ({ ...anEvent('account-1', index + 1), traceparent })),
    { ...anEvent('account-1', 3), traceparent: null },
  ];
  await append(db, events);
  await relayOnce({ db, publish });
  expect(published.map(({ traceparent }) => traceparent)).toEqual([...traces, null]);
});

test('an event that does not fit its schema is refused before anything is stored', () => {
  const place = { key: 'account-1', sequence: null };
  const value = { ...aCredit(), data: { ...aCredit().data, amount: 0n } };
  expect(() => outboundEvent(ReceivedPixCredited, place, value)).toThrow('too_small');
});

test('events of one statement and of one key leave in the order in which they were appended', async () => {
  const events = Array.from({ length: 1_200 }, (_, index) => anEvent(`key-${index % 7}`, index));
  await append(db, events.slice(0, 500));
  for (const event of events.slice(500, 510)) await append(db, [event]);
  await append(db, events.slice(510));
  while ((await relayOnce({ db, publish })) > 0);
  expect(published.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
});

test('a publication that fails leaves the events queued, in their order', async () => {
  await append(db, [anEvent('a', 1), anEvent('a', 2)]);
  const fails = relayOnce({ db, publish: () => Promise.reject(new Error('broker away')) });
  await expect(fails).rejects.toThrow('broker away');
  await relayOnce({ db, publish });
  expect(published.map(({ sequence }) => sequence)).toEqual([1, 2]);
});

test('a relay that dies after publishing repeats itself: first occurrences stay in order', async () => {
  await append(db, [anEvent('a', 1), anEvent('a', 2)]);
  const dies = relayOnce({
    db,
    publish: async (events) => {
      await publish(events);
      throw new Error('killed before the commit');
    },
  });
  await expect(dies).rejects.toThrow('killed');
  await append(db, [anEvent('a', 3)]);
  await relayOnce({ db, publish });
  expect(published.map(({ sequence }) => sequence)).toEqual([1, 2, 1, 2, 3]);
});

test('two relays never publish at the same time', async () => {
  await using other = createPool({ url: database.url, applicationName: 'relay-2' });
  let publishing = 0;
  let most = 0;
  const carefully = async (events: readonly PublishableEvent[]): Promise<void> => {
    publishing += 1;
    most = Math.max(most, publishing);
    await db.query(sql`select pg_sleep(0.005)`);
    await publish(events);
    publishing -= 1;
  };
  const signals = [createWakeSignal(), createWakeSignal()];
  const relays = [db, other].map((pool, index) =>
    startOutboxRelay({ db: pool, publish: carefully, logger, signal: signals[index]! }),
  );
  for (let sequence = 1; sequence <= 60; sequence += 1) {
    await append(db, [anEvent('a', sequence)]);
    signals[sequence % 2]?.notify();
  }
  await eventually(() => expect(published).toHaveLength(60));
  await Promise.all(relays.map((relay) => relay[Symbol.asyncDispose]()));
  expect(most).toBe(1);
  expect(published.map(({ sequence }) => sequence)).toEqual(upTo(60));
});

test('a relay whose lease is taken leaves the queue alone', async () => {
  await append(db, [anEvent('a', 1)]);
  await db.transaction(async (tx) => {
    await tx.query(sql`select from leases where name = 'outbox-relay' for update`);
    expect(await relayOnce({ db, publish })).toBe(0);
  });
  expect(await relayOnce({ db, publish })).toBe(1);
});

test('an event with a lower id that commits late is not skipped', async () => {
  const committed = Promise.withResolvers<void>();
  const appended = Promise.withResolvers<void>();
  const late = db.transaction(async (tx) => {
    await append(tx, [anEvent('late', 1)]);
    appended.resolve();
    await committed.promise;
  });
  await appended.promise;
  await append(db, [anEvent('early', 2)]);
  await relayOnce({ db, publish });
  committed.resolve();
  await late;
  await relayOnce({ db, publish });
  expect(published.map(({ key }) => key)).toEqual(['early', 'late']);
});

test('a wake-up publishes long before the next poll would, and failures are got over', async () => {
  let failures = 2;
  const signal = createWakeSignal();
  const relay = startOutboxRelay({
    db,
    logger,
    signal,
    publish: async (events) => {
      failures -= 1;
      if (failures >= 0) throw new Error('broker away');
      await publish(events);
    },
  });
  await append(db, [anEvent('a', 1), anEvent('a', 2)]);
  signal.notify();
  await eventually(() => expect(published).toHaveLength(2));
  await relay[Symbol.asyncDispose]();
  expect(published.map(({ sequence }) => sequence)).toEqual([1, 2]);
});

test('a stop publishes what is queued, and does not wait for a broker that is away', async () => {
  const relay = startOutboxRelay({ db, publish, logger, signal: createWakeSignal() });
  await append(db, [anEvent('a', 1)]);
  await relay[Symbol.asyncDispose]();
  expect(published).toHaveLength(1);

  await append(db, [anEvent('a', 2)]);
  const away = startOutboxRelay({
    db,
    publish: () => Promise.reject(new Error('away')),
    logger,
    signal: createWakeSignal(),
  });
  const startedMs = performance.now();
  await away[Symbol.asyncDispose]();
  expect(performance.now() - startedMs).toBeLessThan(1_000);
  expect(await db.query(sql`select from outbox`)).toHaveLength(1);
});

test('a queued id without its event stops the relay instead of vanishing', async () => {
  await db.query(sql`insert into outbox (event_id) values (${newId()})`);
  await expect(relayOnce({ db, publish })).rejects.toThrow('missing in events');
  expect(await db.query(sql`select from outbox`)).toHaveLength(1);
});

async function publish(events: readonly PublishableEvent[]): Promise<void> {
  published.push(...events);
}

async function append(tx: Queryable, events: readonly OutboundEvent[]): Promise<void> {
  const pair = appendEvents(sql`select from guard`, events);
  await tx.query(sql`with guard as (select 1), ${pair} select from guard`);
}

function anEvent(key: string, sequence: number): OutboundEvent {
  const place = { key, sequence, headers: { kind: 'test' } };
  return outboundEvent(ReceivedPixCredited, place, aCredit());
}

function aCredit() {
  return {
    event_id: newId(),
    type: 'received_pix.credited' as const,
    version: 1 as const,
    occurred_at: new Date().toISOString(),
    account_id: newId(),
    application_id: null,
    data: {
      command_id: newId(),
      journal_id: newId(),
      end_to_end_id: 'E1',
      charge_id: null,
      amount: toCents(100),
      balance: { available: toCents(100), pending: toCents(0) },
    },
  };
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
