import { randomUUID } from 'node:crypto';

import { toolsGroupPrefix } from '@pixmesh/contracts/internal/broker-rights';
import type { Kafka } from 'kafkajs';

import type { BrokerAccess } from './broker-access.ts';
import { toTextHeaders } from './incoming-message.ts';
import { CLIENT_RETRY, createToolKafka, withAdmin } from './kafka-client.ts';
import { readingCodec } from './schema-registry.ts';
import { readEnds } from './topic-ends.ts';

export type TailedMessage = {
  partition: number;
  offset: string;
  key: string | null;
  headers: Record<string, string>;
  /** The decoded value, or a note where it cannot be decoded. */
  value: unknown;
};

type TailOptions = BrokerAccess & {
  registryUrl: string;
  topic: string;
  fromBeginning: boolean;
  signal: AbortSignal;
  onMessage(message: TailedMessage): void;
  /** Called once, when all that the topic held at the start has been read from its beginning. */
  onPresentEnd?(partitions: number): void;
};

/** Reads a topic as it comes, without committing anything, until the signal is aborted. */
export async function tailTopic(options: TailOptions): Promise<void> {
  const codec = readingCodec(options.registryUrl);
  const kafka = createToolKafka(options, 'topics-tail');
  const reached = await watchPresentEnd(kafka, options);
  const consumer = kafka.consumer({
    groupId: `${toolsGroupPrefix(options.topic)}${randomUUID()}`,
    maxWaitTimeInMs: 100,
    allowAutoTopicCreation: false,
    retry: CLIENT_RETRY,
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [options.topic], fromBeginning: options.fromBeginning });
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      const value = message.value
        ? await codec.decode(message.value).catch(() => '(undecodable)')
        : null;
      options.onMessage({
        partition,
        offset: message.offset,
        key: message.key?.toString() ?? null,
        headers: toTextHeaders(message.headers ?? {}),
        value,
      });
      reached(partition, BigInt(message.offset));
    },
  });
  if (!options.signal.aborted) {
    await new Promise<void>((resolve) => options.signal.addEventListener('abort', () => resolve()));
  }
  await consumer.disconnect();
}

/** Returns what to call for each message that was read. */
async function watchPresentEnd(
  kafka: Kafka,
  { topic, fromBeginning, onPresentEnd }: TailOptions,
): Promise<(partition: number, offset: bigint) => void> {
  if (!fromBeginning || !onPresentEnd) return () => {};
  const ends = await withAdmin(kafka, (admin) => readEnds(admin, topic));
  const unread = new Map([...ends].filter(([, { low, high }]) => low < high));
  if (unread.size === 0) onPresentEnd(ends.size);
  return (partition, offset) => {
    const end = unread.get(partition);
    if (end === undefined || offset + 1n < end.high) return;
    unread.delete(partition);
    if (unread.size === 0) onPresentEnd(ends.size);
  };
}
