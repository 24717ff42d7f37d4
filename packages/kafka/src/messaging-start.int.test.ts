import {
  defineMessage,
  type MessageType,
  subjectOf,
} from '@pixmesh/contracts/messages/message-type';
import { TOPICS } from '@pixmesh/contracts/topics';
import { appendEvents, outboundEvent } from '@pixmesh/postgres/events';
import { parkMessage } from '@pixmesh/postgres/dead-letters';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { startBrokerProxy } from '@pixmesh/testkit/broker-proxy';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { testBroker } from '@pixmesh/testkit/test-infra';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';

import { createKafka } from './kafka-client.ts';
import { on } from './message-handler.ts';
import { startConsumers } from './consumers.ts';
import { startOutbox } from './outbox.ts';
import { registryText } from './registry-client.ts';
import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';
import { aWireMessage, TEST_MESSAGE } from './testing/test-message.ts';

/** Nothing listens there. */
const NO_REGISTRY = 'http://127.0.0.1:1';
const NO_BROKER = '127.0.0.1:1';
const GROUP = 'ledger.start';

let database: TestDatabase;
let admin: Database;
let mesh: TestMesh;
let handled: string[];
let failures: Error[];

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  const adminUrl = `${database.adminUrl}?options=-c%20search_path%3Dledger`;
  admin = createPool({ url: adminUrl, applicationName: 'messaging-start', max: 1 });
  mesh = await startTestMesh();
});

beforeEach(() => {
  handled = [];
  failures = [];
});

afterAll(async () => {
  await mesh[Symbol.asyncDispose]();
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Outbox and consumers of one service. */
function startUnready(broker: string, settled = async (): Promise<void> => undefined) {
  const messaging = {
    service: 'ledger',
    ...testBroker(),
    brokers: [broker],
    registryUrl: NO_REGISTRY,
    topicPrefix: mesh.topicPrefix,
    db: database.db,
    logger: mesh.options.logger,
    onFatal: (error: Error) => void failures.push(error),
  };
  const outbox = startOutbox({
    ...messaging,
    produces: [TEST_MESSAGE],
    signal: createWakeSignal(),
  });
  const consumers = startConsumers({
    ...messaging,
    groups: [
      {
        groupId: GROUP,
        topics: [TOPICS.ledgerEvents],
        handlers: [on(TEST_MESSAGE, async ({ data }) => void handled.push(data.end_to_end_id))],
        settled,
      },
    ],
  });
  return {
    ...consumers,
    isAlive: () => outbox.isAlive() && consumers.isAlive(),
    [Symbol.asyncDispose]: async () => {
      await consumers[Symbol.asyncDispose]();
      await outbox[Symbol.asyncDispose]();
    },
  };
}

function start(...given: Parameters<typeof startUnready>) {
  const messaging = startUnready(...given);
  messaging.onReady();
  return messaging;
}

test('no group is joined before the service is ready', async () => {
  const groupId = mesh.topicPrefix + GROUP;
  const groups = createKafka(mesh.options).admin();
  await groups.connect();
  await using messaging = startUnready(mesh.options.brokers[0] ?? '');
  // Consumers know their schemas, and would have joined.
  const id = await park('known');
  await eventually(async () => expect(await messaging.deadLetters.replay(id)).toBe(true), 20_000);
  await append('unready');
  await eventually(async () => expect(await queued()).toBe(0), 20_000);
  expect((await groups.listGroups()).groups.map((group) => group.groupId)).not.toContain(groupId);
  expect(messaging.isAlive()).toBe(true);
  messaging.onReady();
  await eventually(() => expect(handled).toEqual(['known', 'unready']), 20_000);
  await groups.disconnect();
});

test('without a registry and before the broker is back messaging is alive, and then messages flow', async () => {
  await using proxy = await startBrokerProxy(mesh.options.brokers[0] ?? '');
  proxy.cut();
  await using messaging = start(proxy.broker);
  await append('early');
  expect(messaging.isAlive()).toBe(true);
  expect(handled).toEqual([]);
  proxy.mend();
  await eventually(() => expect(handled).toEqual(['early']), 30_000);
  expect(messaging.isAlive()).toBe(true);
  expect(failures).toEqual([]);
});

test('before the database has answered the schemas a dead letter cannot be replayed, and is afterwards', async () => {
  const id = await park('late');
  await admin.transaction(async (tx) => {
    await tx.query(sql`lock table message_schemas in access exclusive mode`);
    await using messaging = start(NO_BROKER);
    await expect(messaging.deadLetters.replay(id)).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
    });
    expect(messaging.isAlive()).toBe(true);
    await tx.query(sql`rollback`);
    await eventually(async () => expect(await messaging.deadLetters.replay(id)).toBe(true), 20_000);
  });
  expect(handled).toEqual(['late']);
  expect(failures).toEqual([]);
});

test('a stop waits for what handlers do beside their messages', async () => {
  const order: string[] = [];
  const settling = Promise.withResolvers<void>();
  const messaging = start(mesh.options.brokers[0] ?? '', async () => {
    order.push('asked');
    await settling.promise;
    order.push('settled');
  });
  await append('beside');
  await eventually(() => expect(handled).toEqual(['beside']), 30_000);
  const stopped = messaging[Symbol.asyncDispose]().then(() => order.push('stopped'));
  await eventually(() => expect(order).toEqual(['asked']));
  settling.resolve();
  await stopped;
  expect(order).toEqual(['asked', 'settled', 'stopped']);
});

test('what a process of a newer version has queued is published, though this one was started before', async () => {
  const newer = defineMessage({
    ...TEST_MESSAGE,
    schema: TEST_MESSAGE.schema.extend({ of_a_newer_version: z.boolean() }),
  });
  await using messaging = start(mesh.options.brokers[0] ?? '');
  await append('of this version');
  await eventually(async () => expect(await queued()).toBe(0), 20_000);
  await admin.query(sql`
    insert into message_schemas (subject, id, schema)
    values (${subjectOf(newer)}, 1000000, ${registryText(newer)})`);
  const value = z.decode(TEST_MESSAGE.schema, aWireMessage(1) as never);
  await appendEvent(newer, { ...value, of_a_newer_version: true });
  await eventually(async () => expect(await queued()).toBe(0), 20_000);
  const parked = sql`select from dead_letters where consumer = 'outbox'`;
  expect(await database.db.query(parked)).toEqual([]);
  expect(messaging.isAlive()).toBe(true);
});

test('a schema that no deploy job has stored is fatal and named', async () => {
  await admin.query(
    sql`update message_schemas set schema = schema || ' ' where subject like '%.credited'`,
  );
  await using messaging = start(NO_BROKER);
  await eventually(() => expect(failures).toHaveLength(2));
  for (const { message } of failures) {
    expect(message).toContain(`schemas not stored: ${TOPICS.ledgerEvents}-`);
    expect(message).toContain('has the deploy job run?');
  }
  expect(messaging.isAlive()).toBe(true);
});

async function queued(): Promise<number> {
  const [row] = await database.db.query<{ n: number }>(sql`select count(*)::int n from outbox`);
  return row?.n ?? 0;
}

async function append(name: string): Promise<void> {
  const value = z.decode(TEST_MESSAGE.schema, aWireMessage(1) as never);
  await appendEvent(TEST_MESSAGE, { ...value, data: { ...value.data, end_to_end_id: name } });
}

async function appendEvent<Schema extends z.ZodObject>(
  message: MessageType<Schema>,
  value: z.output<Schema>,
): Promise<void> {
  const event = outboundEvent(message, { key: 'account-1', sequence: null, headers: {} }, value);
  const pair = appendEvents(sql`select from guard`, [event]);
  await database.db.query(sql`with guard as (select 1), ${pair} select from guard`);
}

async function park(name: string): Promise<string> {
  const message = aWireMessage(1);
  const value = await mesh.codec.encode(TEST_MESSAGE, {
    ...message,
    data: { ...message.data, end_to_end_id: name },
  });
  const headers = { type: TEST_MESSAGE.type };
  const letter = { topic: TOPICS.ledgerEvents, partition: 0, offset: 1n, key: 'k', headers, value };
  await parkMessage(database.db, GROUP, { ...letter, code: 'MESSAGE_INVALID', reason: 'test' });
  const [row] = await database.db.query<{ id: string }>(
    sql`select id from dead_letters where replayed_at is null`,
  );
  return row?.id ?? '';
}
