import { randomUUID } from 'node:crypto';

import { toTextHeaders } from './incoming-message.ts';
import { CLIENT_RETRY, createToolKafka } from './kafka-client.ts';
import { readingCodec } from './schema-registry.ts';

export type TailedMessage = {
  partition: number;
  offset: string;
  key: string | null;
  headers: Record<string, string>;
  /** The decoded value, or a note where it cannot be decoded. */
  value: unknown;
};

type TailOptions = {
  brokers: readonly string[];
  registryUrl: string;
  topic: string;
  fromBeginning: boolean;
  signal: AbortSignal;
  onMessage(message: TailedMessage): void;
};

/** Reads a topic as it comes, without committing anything, until the signal is aborted. */
export async function tailTopic(options: TailOptions): Promise<void> {
  const codec = readingCodec(options.registryUrl);
  const kafka = createToolKafka(options.brokers, 'topics-tail');
  const consumer = kafka.consumer({
    groupId: `topics-tail-${randomUUID()}`,
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
    },
  });
  if (!options.signal.aborted) {
    await new Promise<void>((resolve) => options.signal.addEventListener('abort', () => resolve()));
  }
  await consumer.disconnect();
}
