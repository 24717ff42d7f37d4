import { AppError } from '@pixmesh/kernel/app-error';
import { newId } from '@pixmesh/kernel/ids';
import { TOPICS } from '@pixmesh/contracts/topics';
import { appendEvents, outboundEvent } from '@pixmesh/postgres/events';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { eventually } from '@pixmesh/testkit/eventually';
import { followTopic } from '@pixmesh/testkit/read-topic';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { testBroker, testInfra } from '@pixmesh/testkit/test-infra';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';

import { on } from './message-handler.ts';
import { type Consumers, startConsumers } from './consumers.ts';
import { type Outbox, startOutbox } from './outbox.ts';
import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';
import { aWireMessage, TEST_MESSAGE } from './testing/test-message.ts';

const TRACE_PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const signal = createWakeSignal();

let database: TestDatabase;
let mesh: TestMesh;
let admin: Database;
let outbox: Outbox;
let consumers: Consumers;
let handled: string[];
/** What the handler does with each message; the tests turn it. */
let handle: (name: string) => Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  // The service's own role may not change history, and these tests need events of a trace.
  const adminUrl = `${database.adminUrl}?options=-c%20search_path%3Dledger`;
  admin = createPool({ url: adminUrl, applicationName: 'messaging-test', max: 1 });
  mesh = await startTestMesh();
  const messaging = {
    service: 'ledger',
    ...testBroker(),
    registryUrl: testInfra().registryUrl,
    topicPrefix: mesh.topicPrefix,
    db: database.db,
    logger: mesh.options.logger,
    onFatal: (error: Error) => {
      throw error;
    },
  };
  outbox = startOutbox({ ...messaging, produces: [TEST_MESSAGE], signal });
  consumers = startConsumers({
    ...messaging,
    groups: [
      {
        groupId: 'ledger.test',
        topics: [TOPICS.ledgerEvents],
        handlers: [on(TEST_MESSAGE, ({ data }) => handle(data.end_to_end_id))],
      },
    ],
    wakeOutbox: signal.notify,
  });
  consumers.onReady();
});

beforeEach(() => {
  handled = [];
  handle = async (name) => void handled.push(name);
});

afterAll(async () => {
  await consumers[Symbol.asyncDispose]();
  await outbox[Symbol.asyncDispose]();
  await mesh[Symbol.asyncDispose]();
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('a committed event reaches its handler, and its headers and trace stand on the topic', async () => {
  await using topic = followTopic(mesh.topicPrefix, TOPICS.ledgerEvents);
  const eventId = await append(1);
  await eventually(() => expect(handled).toEqual(['1']));
  await eventually(() => expect(topic.messages).toHaveLength(1));
  expect(topic.messages[0]).toMatchObject({
    key: 'account-1',
    headers: {
      kind: 'test',
      event_id: eventId,
      type: TEST_MESSAGE.type,
      traceparent: TRACE_PARENT,
    },
    value: { event_id: eventId, data: { end_to_end_id: '1', amount: 12_345 } },
  });
  expect([outbox.isAlive(), consumers.isAlive()]).toEqual([true, true]);
});

test('a parked message is handled again by a replay, once', async () => {
  handle = async () => {
    throw new AppError('MESSAGE_INVALID', { message: 'not yet' });
  };
  await append(2);
  const letter = await openLetter();
  expect(letter).toMatchObject({
    consumer: 'ledger.test',
    topic: TOPICS.ledgerEvents,
    code: 'MESSAGE_INVALID',
    reason: 'not yet',
    key: 'account-1',
  });
  await expect(consumers.deadLetters.replay(letter.id)).rejects.toThrow('not yet');
  expect((await openLetter()).id).toBe(letter.id);

  handle = async (name) => void handled.push(name);
  expect(await consumers.deadLetters.replay(letter.id)).toBe(true);
  expect(await consumers.deadLetters.replay(letter.id)).toBe(false);
  expect(handled).toEqual(['2']);
  expect(await listLetters()).toEqual([]);
});

test('a dismissed letter is neither replayed nor dismissed again', async () => {
  handle = async () => {
    throw new AppError('MESSAGE_INVALID', { message: 'never' });
  };
  await append(3);
  const { id } = await openLetter();
  const dismissal = { operatorId: newId(), reason: 'a test wrote it' };
  expect(await consumers.deadLetters.dismiss(id, dismissal)).toBe(true);
  expect(await consumers.deadLetters.dismiss(id, dismissal)).toBe(false);
  expect(await consumers.deadLetters.replay(id)).toBe(false);
  expect(await listLetters()).toEqual([]);
  expect(await consumers.deadLetters.find(id)).toMatchObject({
    dismissedReason: 'a test wrote it',
  });
});

test('a letter cannot be dismissed while its replay is handled, nor after', async () => {
  handle = async () => {
    throw new AppError('MESSAGE_INVALID', { message: 'not yet' });
  };
  await append(4);
  const { id } = await openLetter();
  const begun = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  handle = async () => {
    begun.resolve();
    await mayEnd.promise;
  };
  const replayed = consumers.deadLetters.replay(id);
  await begun.promise;
  const dismissed = consumers.deadLetters.dismiss(id, {
    operatorId: newId(),
    reason: 'too slow',
  });
  mayEnd.resolve();
  expect(await Promise.all([replayed, dismissed])).toEqual([true, false]);
});

test('letters that are replayed at once are handled one after the other', async () => {
  handle = async () => {
    throw new AppError('MESSAGE_INVALID', { message: 'not yet' });
  };
  const count = 40;
  for (let number = 0; number < count; number += 1) await append(100 + number);
  const letters = await eventually(async () => {
    const all = await consumers.deadLetters.list({ limit: count, startingAfter: null });
    expect(all).toHaveLength(count);
    return all;
  });
  let underWay = 0;
  let mostUnderWay = 0;
  handle = async () => {
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    await database.db.query(sql`select`);
    underWay -= 1;
  };
  const replayed = letters.map(({ id }) => consumers.deadLetters.replay(id));
  expect(await Promise.all(replayed)).toEqual(letters.map(() => true));
  expect(mostUnderWay).toBe(1);
});

test('a replay that waits too long for another is refused, and its letter stays open', async () => {
  handle = async () => {
    throw new AppError('MESSAGE_INVALID', { message: 'not yet' });
  };
  await append(201);
  const { id } = await openLetter();
  const begun = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  handle = async () => {
    begun.resolve();
    await mayEnd.promise;
  };
  const first = consumers.deadLetters.replay(id);
  await begun.promise;
  await expect(consumers.deadLetters.replay(id)).rejects.toThrow('no turn at replays: late');
  expect((await openLetter()).id).toBe(id);
  mayEnd.resolve();
  expect(await first).toBe(true);
});

test('an unknown letter is not replayed', async () => {
  const unknown = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001';
  expect(await consumers.deadLetters.replay(unknown)).toBe(false);
});

test('bytes that nobody can read end in the table of dead letters as they came', async () => {
  const value = Buffer.from([0xde, 0xad, 0]);
  await mesh.sendRaw([{ value, key: 'a\0b', type: 'no\0such' }]);
  expect(await openLetter()).toMatchObject({ value, key: 'a\uFFFDb', code: 'MESSAGE_INVALID' });
  await database.db.query(sql`delete from dead_letters`);
});

test('a claim larger than the broker takes at once is published in order', async () => {
  await using topic = followTopic(mesh.topicPrefix, TOPICS.ledgerEvents);
  const numbers = Array.from({ length: 400 }, (_, index) => 1_000 + index);
  // 400 messages of one key and 8 KB each: more than 3 MB for one partition.
  await append(...numbers.map((number) => ({ number, reference: 'x'.repeat(8_000) })));
  const published = await eventually(() => {
    const names = topic.messages.map(({ value }) => Number(nameOf(value).split('-')[0]));
    expect(names.filter((number) => number >= 1_000)).toHaveLength(400);
    return names.filter((number) => number >= 1_000);
  });
  expect(published).toEqual(numbers);
});

type Numbered = number | { number: number; reference: string };

/** Appends events in one transaction, as if inside a trace; answers the id of the last one. */
async function append(...numbered: readonly Numbered[]): Promise<string> {
  const events = numbered.map((entry) => {
    const { number, reference } =
      typeof entry === 'number' ? { number: entry, reference: '' } : entry;
    const wire = aWireMessage(number);
    const value = z.decode(TEST_MESSAGE.schema, wire as never);
    const name = reference === '' ? String(number) : `${number}-${reference}`;
    return outboundEvent(
      TEST_MESSAGE,
      { key: 'account-1', sequence: null, headers: { kind: 'test' } },
      { ...value, data: { ...value.data, end_to_end_id: name } },
    );
  });
  const pair = appendEvents(sql`select from guard`, events);
  await admin.transaction(async (tx) => {
    await tx.query(sql`with guard as (select 1), ${pair} select from guard`);
    await tx.query(sql`update events set traceparent = ${TRACE_PARENT} where traceparent is null`);
  });
  signal.notify();
  return events.at(-1)?.eventId ?? '';
}

async function openLetter() {
  return await eventually(async () => {
    const [letter] = await listLetters();
    if (!letter) throw new Error('no letter yet');
    return letter;
  });
}

async function listLetters() {
  return await consumers.deadLetters.list({ limit: 10, startingAfter: null });
}

function nameOf(value: unknown): string {
  const parsed = TEST_MESSAGE.schema.safeParse(value);
  return parsed.success ? parsed.data.data.end_to_end_id : '';
}
