import { randomUUID } from 'node:crypto';

import { TOPICS } from '@pixmesh/contracts/topics';
import { createLogger } from '@pixmesh/telemetry/logger';
import { testBroker, testInfra } from '@pixmesh/testkit/test-infra';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { Partitioners } from 'kafkajs';

import { type RunningConsumer, startConsumer } from '../consumer.ts';
import type { HandleMessageDeps } from '../handle-message.ts';
import type { RawMessage } from '@pixmesh/postgres/dead-letters';
import { createKafka, type KafkaOptions } from '../kafka-client.ts';
import type { MessageCodec } from '../message-codec.ts';
import { on } from '../message-handler.ts';
import { warmCodec } from '../schema-registry.ts';
import { aWireMessage, TEST_MESSAGE } from './test-message.ts';

const TOPIC = TOPICS.ledgerEvents;

export type Parked = RawMessage & { code: string; reason: string };

export type RawSend = {
  value: Buffer | null;
  type?: string;
  key?: string;
  partition?: number;
  headers?: Record<string, string>;
};

export type TestMesh = AsyncDisposable & {
  topicPrefix: string;
  codec: MessageCodec;
  options: KafkaOptions;
  /** Puts messages on `ledger.events.v1` as they are. */
  sendRaw(messages: readonly RawSend[]): Promise<void>;
  /** Puts well-formed messages there, numbered by their `end_to_end_id`, all on one partition. */
  sendNumbered(...numbers: readonly number[]): Promise<void>;
  sendNumberedTo(topicPrefix: string, ...numbers: readonly number[]): Promise<void>;
  /** Starts a consumer of that topic; `handle` gets the numbers. Stopped with the mesh. */
  consume(
    handle: (number: number) => Promise<void>,
    options?: Partial<HandleMessageDeps> & {
      groupId?: string;
      brokers?: readonly string[];
      security?: KafkaOptions['security'];
      topicPrefix?: string;
      concurrency?: { max: number };
    },
  ): { consumer: RunningConsumer; parked: Parked[]; groupId: string };
};

/** A topic of its own on the shared broker, and a producer that follows no rules. */
export async function startTestMesh(): Promise<TestMesh> {
  const { topicPrefix } = await createTestTopics();
  const { registryUrl } = testInfra();
  const logger = createLogger('test', 'silent');
  const options = { ...testBroker(), clientId: 'kafka-test', logger };
  const codec = await warmCodec(registryUrl, [TEST_MESSAGE]);
  const createPartitioner = Partitioners.DefaultPartitioner;
  const producer = createKafka(options).producer({ createPartitioner });
  await producer.connect();
  const consumers: RunningConsumer[] = [];

  return {
    topicPrefix,
    codec,
    options,
    sendRaw: (messages) => send(topicPrefix, messages),
    sendNumbered: (...numbers) => sendNumberedTo(topicPrefix, ...numbers),
    sendNumberedTo,
    consume: (handle, changes = {}) => {
      const parked: Parked[] = [];
      const groupId = changes.groupId ?? randomUUID();
      const consumer = startConsumer({
        ...options,
        topicPrefix,
        topics: [TOPIC],
        codec,
        handlers: [on(TEST_MESSAGE, ({ data }) => handle(Number(data.end_to_end_id)))],
        park: async (message) => void parked.push(message),
        onFatal: (error) => {
          throw error;
        },
        ...changes,
        groupId,
      });
      consumers.push(consumer);
      return { consumer, parked, groupId };
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      await producer.disconnect();
    },
  };

  async function sendNumberedTo(prefix: string, ...numbers: readonly number[]): Promise<void> {
    const values = numbers.map((number) => codec.encode(TEST_MESSAGE, aWireMessage(number)));
    const messages = await Promise.all(values);
    await send(
      prefix,
      messages.map((value) => ({ value, partition: 0 })),
    );
  }

  async function send(prefix: string, messages: readonly RawSend[]): Promise<void> {
    await producer.send({
      topic: prefix + TOPIC,
      messages: messages.map(({ value, type, key, partition, headers }) => ({
        value,
        key: key ?? 'key',
        ...(partition === undefined ? {} : { partition }),
        headers: { type: type ?? TEST_MESSAGE.type, event_id: randomUUID(), ...headers },
      })),
    });
  }
}
