import { ReceivedPixCredited } from '@pixmesh/contracts/messages/ledger-event.v1';
import { MESSAGE_SAMPLES } from '@pixmesh/contracts/test/message-samples';
import { newId } from '@pixmesh/kernel/ids';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { z } from 'zod';

import { appendEvents, type OutboundEvent, outboundEvent } from './events.ts';
import { listDeadLetters } from './dead-letters.ts';
import { OUTBOX_CONSUMER } from './outbox-queue.sql.ts';
import {
  FROM_START,
  type Pass,
  type Publish,
  type PublishableEvent,
  relayOnce,
  startOutboxRelay,
} from './outbox-relay.ts';
import { dismissParkedEvent, replayParkedEvent } from './parked-events.ts';
import { createPool, type Database, type Queryable } from './pool.ts';
import { republishTopic } from './republish-topic.ts';
import { sql } from './sql.ts';
import { queueAgain } from './unanswered-commands.ts';

type Schema = typeof ReceivedPixCredited.schema;

const logger = createLogger('relay-test', 'silent');
const ALL_GONE = { invalid: new Map<string, string>(), postponed: new Set<string>() };
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
  await admin.query(sql`truncate ledger.events, ledger.outbox, ledger.dead_letters`);
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
    expect(await relay()).toBe(0);
  });
  expect(await relay()).toBe(1);
  expect(published).toMatchObject([{ ...event, traceparent: null }]);
  expect(await relay()).toBe(0);
});

test('nothing is appended when the guard finds nothing', async () => {
  const events = appendEvents(sql`select from guard`, [anEvent('account-1', 1)]);
  await db.query(sql`with guard as (select where false), ${events} select from guard`);
  expect([await relay(), await db.query(sql`select from events`)]).toEqual([0, []]);
});

test('events of one statement go on in traces of their own', async () => {
  const traces = ['1', '2'].map((digit) => `00-${digit.repeat(32)}-00f067aa0ba902b7-01`);
  const events = [...traces, null].map((traceparent, index) => ({
    ...anEvent('account-1', index + 1),
    traceparent,
  }));
  await append(db, events);
  await relay();
  expect(published.map(({ traceparent }) => traceparent)).toEqual([...traces, null]);
});

test('events of one statement and of one key leave in the order in which they were appended', async () => {
  const events = Array.from({ length: 1_200 }, (_, index) => anEvent(`key-${index % 7}`, index));
  await append(db, events.slice(0, 500));
  for (const event of events.slice(500, 510)) await append(db, [event]);
  await append(db, events.slice(510));
  while ((await relay()) > 0);
  expect(published.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
});

test('a publication that fails leaves the events queued, in their order', async () => {
  await append(db, [anEvent('a', 1), anEvent('a', 2)]);
  await expect(relay(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  await relay();
  expect(published.map(({ sequence }) => sequence)).toEqual([1, 2]);
});

test('a relay that dies after publishing repeats itself: first occurrences stay in order', async () => {
  await append(db, [anEvent('a', 1), anEvent('a', 2)]);
  const dies = relay(async (events) => {
    await publish(events);
    throw new Error('killed before the commit');
  });
  await expect(dies).rejects.toThrow('killed');
  await append(db, [anEvent('a', 3)]);
  await relay();
  expect(published.map(({ sequence }) => sequence)).toEqual([1, 2, 1, 2, 3]);
});

test('two relays never publish at the same time', async () => {
  await using other = createPool({ url: database.url, applicationName: 'relay-2' });
  let publishing = 0;
  let most = 0;
  const carefully: Publish = async (events) => {
    publishing += 1;
    most = Math.max(most, publishing);
    await db.query(sql`select pg_sleep(0.005)`);
    const left = await publish(events);
    publishing -= 1;
    return left;
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
  expect(published.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 60 }, (_, index) => index + 1),
  );
});

test('a relay whose lease is taken leaves the queue alone', async () => {
  await append(db, [anEvent('a', 1)]);
  await db.transaction(async (tx) => {
    await tx.query(sql`select from leases where name = 'outbox-relay' for update`);
    expect(await relay()).toBe(0);
  });
  expect(await relay()).toBe(1);
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
  await relay();
  committed.resolve();
  await late;
  await relay();
  expect(published.map(({ key }) => key)).toEqual(['early', 'late']);
});

test('a wake-up publishes long before the next poll would, and failures are got over', async () => {
  let failures = 2;
  const signal = createWakeSignal({ pollMs: 60_000 });
  const relay = startOutboxRelay({
    db,
    logger,
    signal,
    publish: async (events) => {
      failures -= 1;
      if (failures >= 0) throw new Error('broker away');
      return await publish(events);
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
  await expect(relay()).rejects.toThrow('missing in events');
  expect(await db.query(sql`select from outbox`)).toHaveLength(1);
});

const publish: Publish = async (events) => {
  published.push(...events);
  return ALL_GONE;
};

/** One batch; answers how many events left the queue. */
async function relay(publishing: Publish = publish, pass?: Pass) {
  return (await relayOnce({ db, logger, publish: publishing }, pass)).taken;
}

/** Batch after batch until one begins at the start again; what is of the key `slow` waits for the broker. */
async function endPass(from: Pass): Promise<void> {
  let pass = from;
  do {
    pass = (await relayOnce({ db, logger, publish: refusing('slow', 'postponed') }, pass)).next;
  } while (pass.snapshot !== null);
}

/** Refuses events of one key: as invalid, or for now. */
function refusing(key: string, how: 'invalid' | 'postponed'): Publish {
  return async (events) => {
    const refused = events.filter((event) => event.key === key);
    await publish(events.filter((event) => event.key !== key));
    const ids = refused.map(({ eventId }) => eventId);
    if (how === 'postponed') return { ...ALL_GONE, postponed: new Set(ids) };
    const [first, ...later] = ids;
    const invalid = new Map(first === undefined ? [] : [[first, 'an unknown field'] as const]);
    return { invalid, postponed: new Set(later) };
  };
}

test('an event that does not fit is parked, holds back the later ones of its key alone, and leads them when it is replayed', async () => {
  await append(db, [anEvent('good', 1), anEvent('bad', 1), anEvent('good', 2), anEvent('bad', 2)]);
  expect(await relay(refusing('bad', 'invalid'))).toBe(3);
  await append(db, [anEvent('bad', 3), anEvent('good', 3)]);
  // The key is held, whatever its next events are.
  expect(await relay()).toBe(1);
  expect(await relay(publish, FROM_START)).toBe(0);
  expect(published.map(({ key, sequence }) => `${key} ${sequence}`)).toEqual([
    'good 1',
    'good 2',
    'good 3',
  ]);
  const [letter, ...others] = await listDeadLetters(db, { limit: 10, startingAfter: null });
  expect(others).toEqual([]);
  expect(letter).toMatchObject({
    consumer: OUTBOX_CONSUMER,
    key: 'bad',
    reason: 'an unknown field',
  });
  await replayParkedEvent(db, letter!);
  published = [];
  expect(await relay(publish, FROM_START)).toBe(3);
  expect(published.map(({ key, sequence }) => `${key} ${sequence}`)).toEqual([
    'bad 1',
    'bad 2',
    'bad 3',
  ]);
  expect(await listDeadLetters(db, { limit: 10, startingAfter: null })).toEqual([]);
});

test('events that the broker postpones wait in their order, however many, and those behind them go on', async () => {
  const signal = createWakeSignal();
  let isRefusing = true;
  await append(
    db,
    Array.from({ length: 1_200 }, (_, index) => anEvent('slow', index)),
  );
  await using _relay = startOutboxRelay({
    db,
    logger,
    signal,
    publish: (events) => (isRefusing ? refusing('slow', 'postponed') : publish)(events),
  });
  await append(db, [anEvent('quick', 1), anEvent('quick', 2)]);
  signal.notify();
  await eventually(() => expect(published.map(({ sequence }) => sequence)).toEqual([1, 2]));
  published = [];
  isRefusing = false;
  await eventually(() => expect(published).toHaveLength(1_200));
  expect(published.map(({ sequence }) => sequence)).toEqual(published.map((_, index) => index));
});

test('one pass publishes all that stands behind and between events that wait, however many', async () => {
  const keys = Array.from({ length: 2_000 }, (_, at) => (at % 4 === 0 ? `quick ${at}` : 'slow'));
  await append(db, keys.map(anEvent));
  await endPass(FROM_START);
  expect(published).toHaveLength(500);
});

test('where the broker takes events again between two batches, those of the second do not go before those of the first', async () => {
  await append(
    db,
    Array.from({ length: 700 }, (_, index) => anEvent('slow', index)),
  );
  let batches = 0;
  const signal = createWakeSignal();
  await using _relay = startOutboxRelay({
    db,
    logger,
    signal,
    publish: (events) => (batches++ === 0 ? refusing('slow', 'postponed') : publish)(events),
  });
  signal.notify();
  await eventually(() => expect(published).toHaveLength(700));
  expect(published.map(({ sequence }) => sequence)).toEqual(published.map((_, index) => index));
});

test('an event that is replayed while a queue that waits is gone through leads the later ones of its key', async () => {
  await append(db, [anEvent('bad', 1)]);
  await relay(refusing('bad', 'invalid'));
  const slow = Array.from({ length: 1_000 }, (_, index) => anEvent('slow', index));
  await append(db, [...slow, anEvent('bad', 2)]);
  const { next } = await relayOnce(
    { db, logger, publish: refusing('slow', 'postponed') },
    FROM_START,
  );
  const [letter] = await listDeadLetters(db, { limit: 10, startingAfter: null });
  expect(await replayParkedEvent(db, letter!)).toBe(true);
  await endPass(next);
  expect(published).toEqual([]);
  await endPass(FROM_START);
  await endPass(FROM_START);
  expect(published.map(({ key, sequence }) => `${key} ${sequence}`)).toEqual(['bad 1', 'bad 2']);
});

test('an event that is parked and replayed within one pass leads the later ones of its key', async () => {
  const keys = Array.from({ length: 1_600 }, (_, at) => (at % 800 === 700 ? 'bad' : 'slow'));
  await append(db, keys.map(anEvent));
  const slow = { db, logger, publish: refusing('slow', 'postponed') };
  const bad = { db, logger, publish: refusing('bad', 'invalid') };
  const { next } = await relayOnce(bad, (await relayOnce(slow, FROM_START)).next);
  const [letter] = await listDeadLetters(db, { limit: 10, startingAfter: null });
  expect(await replayParkedEvent(db, letter!)).toBe(true);
  await endPass(next);
  expect(published).toEqual([]);
  await endPass(FROM_START);
  expect(published.map(({ sequence }) => sequence)).toEqual([700, 1_500]);
});

test('an event that is committed late, into a place that was read, leads the later ones of its key', async () => {
  const deps = { db, logger, publish: refusing('slow', 'postponed') };
  const slow = Array.from({ length: 600 }, (_, index) => anEvent('slow', index));
  const next = await db.transaction(async (tx) => {
    await append(tx, [anEvent('late', 1)]);
    await append(db, slow);
    return (await relayOnce(deps, FROM_START)).next;
  });
  await append(db, [anEvent('late', 2)]);
  await endPass(next);
  expect(published).toEqual([]);
  await endPass(FROM_START);
  await endPass(FROM_START);
  expect(published.map(({ key, sequence }) => `${key} ${sequence}`)).toEqual(['late 1', 'late 2']);
});

test('an event that is queued twice and cannot be published is parked, once', async () => {
  const event = anEvent('bad', 1);
  await append(db, [event, anEvent('good', 1)]);
  await db.query(sql`insert into outbox (event_id, is_resend) values (${event.eventId}, true)`);
  await relay(refusing('bad', 'invalid'));
  const letters = await listDeadLetters(db, { limit: 10, startingAfter: null });
  expect(letters).toMatchObject([{ headers: { event_id: event.eventId } }]);
  expect(published).toMatchObject([{ key: 'good' }]);
});

test('a parked event that is dismissed is never published, queued once more or replayed, and the later ones of its key go on', async () => {
  const event = anEvent('bad', 1);
  await append(db, [event, anEvent('bad', 2)]);
  await relay(refusing('bad', 'invalid'));
  await db.query(sql`insert into outbox (event_id, is_resend) values (${event.eventId}, true)`);
  const [letter] = await listDeadLetters(db, { limit: 10, startingAfter: null });
  const dismissal = { operatorId: newId(), reason: 'settled by hand' };
  expect(await dismissParkedEvent(db, letter!, dismissal)).toBe(true);
  expect(await dismissParkedEvent(db, letter!, dismissal)).toBe(false);
  expect(await replayParkedEvent(db, letter!)).toBe(false);
  await relay();
  expect(published.map(({ sequence }) => sequence)).toEqual([2]);
  const from = new Date(Date.now() - 60_000);
  expect(await republishTopic(db, { topic: event.topic, from, key: 'bad' })).toBe(1);
  expect(await queueAgain(db, [event.eventId])).toBe(0);
});

async function append(tx: Queryable, events: readonly OutboundEvent[]): Promise<void> {
  const pair = appendEvents(sql`select from guard`, events);
  await tx.query(sql`with guard as (select 1), ${pair} select from guard`);
}

function anEvent(key: string, sequence: number): OutboundEvent {
  const place = { key, sequence, headers: { kind: 'test' } };
  const credit = { ...MESSAGE_SAMPLES[ReceivedPixCredited.type], event_id: newId() };
  return outboundEvent(ReceivedPixCredited, place, credit as z.output<Schema>);
}
