import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

import { TOPICS } from '@pixmesh/contracts/topics';
import { startBrokerProxy } from '@pixmesh/testkit/broker-proxy';
import { eventually } from '@pixmesh/testkit/eventually';
import { followTopic } from '@pixmesh/testkit/read-topic';
import { beforeEach, expect, test } from 'vitest';

import { createEventPublisher } from './event-publisher.ts';
import type { EventToPublish } from './outgoing-message.ts';
import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';
import { aWireMessage, TEST_MESSAGE } from './testing/test-message.ts';

/** A request is given up after 4 s. */
const SLOW_ANSWER_MS = 3_000;

let mesh: TestMesh;

beforeEach(async () => {
  mesh = await startTestMesh();
  return () => mesh[Symbol.asyncDispose]();
});

test('the publisher goes on after its connections were cut', async () => {
  const sockets = new Set<Socket>();
  const recordSocket = (message: unknown): void =>
    void sockets.add((message as { socket: Socket }).socket);
  diagnostics.subscribe('net.client.socket', recordSocket);
  await using publisher = createEventPublisher(options());
  await publisher.publishAll([anEvent(1)]);
  diagnostics.unsubscribe('net.client.socket', recordSocket);
  for (const socket of sockets) socket.destroy(new Error('cut'));
  await eventually(() => publisher.publishAll([anEvent(2)]));
  await using topic = followTopic(mesh.topicPrefix, TOPICS.ledgerEvents);
  await eventually(() => expect(new Set(topic.messages.map(numberOf))).toEqual(new Set([1, 2])));
});

test('a topic that does not exist fails the publication, never creates the topic, and is got over', async () => {
  await using publisher = createEventPublisher(options());
  const nowhere = { ...anEvent(1), topic: 'no.such.topic' };
  const codec = { ...mesh.codec, encode: async () => Buffer.from('x') };
  await using careless = createEventPublisher({ ...options(), codec });
  await expect(careless.publishAll([nowhere])).rejects.toThrow('This server does not host');
  await expect(careless.publishAll([nowhere])).rejects.toThrow('This server does not host');
  await publisher.publishAll([anEvent(2)]);
});

test('a publication that does not end in time publishes nothing later, and ends no connection but its own', async () => {
  await using proxy = await startBrokerProxy(mesh.options.brokers[0] ?? '');
  await using publisher = createEventPublisher({ ...options(), brokers: [proxy.broker] });
  // In time for each request, and too late for all that a first publication takes.
  proxy.slow(SLOW_ANSWER_MS);
  await expect(publisher.publishAll([anEvent(1)])).rejects.toThrow('did not answer in time');
  proxy.mend();
  await publisher.publishAll([anEvent(2)]);
  const taken = proxy.taken();
  await eventually(() => expect(proxy.open()).toBe(1));
  await publisher.publishAll([anEvent(3)]);
  expect(proxy.taken()).toBe(taken);
  await using topic = followTopic(mesh.topicPrefix, TOPICS.ledgerEvents);
  await eventually(() => expect(topic.messages.map(numberOf)).toEqual([2, 3]));
}, 60_000);

test('an event that its schema refuses fails before the broker is asked', async () => {
  await using publisher = createEventPublisher({ ...options(), brokers: ['127.0.0.1:1'] });
  const wrong = { ...anEvent(1), message: { nothing: true } };
  await expect(publisher.publishAll([wrong])).rejects.toThrow('invalid payload');
});

test('a broker that is away fails the publication within its limit', async () => {
  await using publisher = createEventPublisher({ ...options(), brokers: ['127.0.0.1:1'] });
  const startedMs = performance.now();
  await expect(publisher.publishAll([anEvent(1)])).rejects.toThrow('');
  expect(performance.now() - startedMs).toBeLessThan(11_000);
});

test('of many events those go that can: a refused topic, and an invalid event with what follows under its key, are left', async () => {
  const codec: typeof mesh.codec = {
    ...mesh.codec,
    encode: (type, value) =>
      type.topic.startsWith('no.such')
        ? Promise.resolve(Buffer.from('x'))
        : mesh.codec.encode(type, value),
  };
  await using publisher = createEventPublisher({ ...options(), codec });
  const nowhere = { ...anEvent(1), topic: 'no.such.topic' };
  const wrong = { ...anEvent(2), key: 'wrong', message: { nothing: true } };
  const behind = { ...anEvent(3), key: 'wrong' };
  const good = Array.from({ length: 50 }, (_, index) => anEvent(index + 4));
  for (const some of [good.slice(0, 25), good.slice(25)]) {
    const left = await publisher.publish([nowhere, wrong, behind, ...some]);
    expect([...left.invalid]).toEqual([
      [wrong.eventId, expect.stringContaining('invalid payload')],
    ]);
    expect(left.postponed).toEqual(new Set([nowhere.eventId, behind.eventId]));
  }
  await using topic = followTopic(mesh.topicPrefix, TOPICS.ledgerEvents);
  await eventually(() => expect(topic.messages).toHaveLength(50));
  expect(topic.messages.map(numberOf)).toEqual(good.map((_, index) => index + 4));
});

test('a broker that is away is an error, and no refusal of a topic', async () => {
  await using publisher = createEventPublisher({ ...options(), brokers: ['127.0.0.1:1'] });
  await expect(publisher.publish([anEvent(1)])).rejects.toThrow('');
});

function anEvent(number: number): EventToPublish {
  const message = aWireMessage(number);
  const { topic, type } = TEST_MESSAGE;
  return { eventId: message.event_id, topic, key: 'key', type, message, traceparent: null };
}

function numberOf({ value }: { value: unknown }): number {
  return Number(TEST_MESSAGE.schema.parse(value).data.end_to_end_id);
}

function options() {
  return { ...mesh.options, codec: mesh.codec, topicPrefix: mesh.topicPrefix };
}
