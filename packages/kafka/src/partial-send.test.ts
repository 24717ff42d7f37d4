import { createLogger } from '@pixmesh/telemetry/logger';
import type { Kafka } from 'kafkajs';
import { afterEach, expect, test, vi } from 'vitest';

import type { Outgoing } from './outgoing-message.ts';
import { createPartialSend } from './partial-send.ts';

afterEach(() => void vi.restoreAllMocks());

/** Longer than half of the time for which a refused partition is left alone. */
const STEP_MS = 1_500;

test('where the rest of a refused partition ends while its events are sorted, none goes before an earlier one', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += STEP_MS));
  const sent: string[] = [];
  let isRefusing = true;
  const sendPartially = createPartialSend({
    kafka: aBrokerWithOnePartition(),
    logger: createLogger('test', 'silent'),
    topicPrefix: '',
  });
  const producer = {
    send: async (outgoing: readonly Outgoing[]) => {
      if (isRefusing) throw Object.assign(new Error(), { name: 'KafkaJSProtocolError' });
      sent.push(...outgoing.map(({ eventId }) => eventId));
    },
    beginAfresh: () => undefined,
  };
  const events = ['1', '2', '3'].map(anEvent);
  expect(await sendPartially(events, producer)).toEqual(events);
  isRefusing = false;
  let left: readonly Outgoing[] = events;
  for (let tries = 0; left.length > 0 && tries < 3; tries += 1) {
    left = await sendPartially(left, producer);
  }
  expect(sent).toEqual(['1', '2', '3']);
});

function anEvent(eventId: string): Outgoing {
  return { eventId, topic: 'topic', message: { key: 'key', value: Buffer.from(eventId) } };
}

function aBrokerWithOnePartition(): Kafka {
  const partitions = [
    { partitionId: 0, leader: 0, replicas: [0], isr: [0], partitionErrorCode: 0 },
  ];
  const admin = {
    connect: async () => undefined,
    disconnect: async () => undefined,
    fetchTopicMetadata: async () => ({ topics: [{ name: 'topic', partitions }] }),
  };
  return { admin: () => admin } as unknown as Kafka;
}
