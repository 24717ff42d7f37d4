import type { Logger } from '@pixmesh/telemetry/logger';
import { type Kafka, type PartitionMetadata, Partitioners } from 'kafkajs';

import type { Outgoing } from './outgoing-message.ts';
import { PUBLISH_RETRY } from './kafka-client.ts';
import { createRefusedPartitions, type TopicPartition } from './refused-partitions.ts';

const partitioner = Partitioners.DefaultPartitioner();

/** Resolves when all of it is durable. */
type Send = (outgoing: readonly Outgoing[]) => Promise<void>;

/** The producer of one call. */
type SendBy = {
  send: Send;
  /** The next call has another one. */
  beginAfresh(): void;
};

type PartialSendOptions = { kafka: Kafka; logger: Logger; topicPrefix: string };

/**
 * Sends all together; where that is refused, topic by topic, and then by partition. Answers what the broker does not
 * take now, and leaves that topic or partition alone for a moment; after that it is tried apart from the others.
 *
 * The tries of one call are by one producer, so that the broker knows what it has from the try before.
 * @throws when the broker answers nothing
 */
export function createPartialSend({ kafka, ...options }: PartialSendOptions) {
  const refused = createRefusedPartitions(options);
  /** Partitions of the topics that have refused something; others are sent without knowing theirs. */
  const partitionsOf = new Map<string, PartitionMetadata[]>();
  return sendPartially;

  async function sendPartially(
    outgoing: readonly Outgoing[],
    { send, beginAfresh }: SendBy,
  ): Promise<Outgoing[]> {
    // As of one moment: where the rest of a partition ended on the way, its later events would go before earlier ones.
    const nowMs = performance.now();
    const {
      trusted = [],
      suspect = [],
      resting = [],
    } = Object.groupBy(outgoing, (one) => refused.stateOf(partitionOf(one), nowMs));
    const left = [
      ...(await sendByTopic(send, trusted)),
      ...(await sendEachPartition(send, suspect)),
    ];
    if (left.length > 0) beginAfresh();
    return [...resting, ...left];
  }

  async function sendByTopic(send: Send, outgoing: readonly Outgoing[]): Promise<Outgoing[]> {
    if (outgoing.length === 0 || (await trySend(send, outgoing)) === null) return [];
    const left: Outgoing[] = [];
    for (const [topic, ofTopic] of Map.groupBy(outgoing, (one) => one.topic)) {
      const refusal = await trySend(send, ofTopic);
      if (refusal === null) continue;
      left.push(...(await sendByPartition(send, { topic, refusal }, ofTopic)));
    }
    return left;
  }

  /** Side by side: a refusal takes its time, and there may be one from every partition. */
  async function sendEachPartition(send: Send, outgoing: readonly Outgoing[]): Promise<Outgoing[]> {
    const byPartition = Map.groupBy(outgoing, (one) => JSON.stringify(partitionOf(one)));
    const left = await Promise.all(
      [...byPartition.values()].map(async (ofPartition) => {
        const topicPartition = partitionOf(ofPartition[0]!);
        const refusal = await trySend(send, ofPartition);
        if (refusal === null) refused.remove(topicPartition);
        else refused.add(topicPartition, refusal);
        return refusal === null ? [] : ofPartition;
      }),
    );
    return left.flat();
  }

  async function sendByPartition(
    send: Send,
    { topic, refusal }: { topic: string; refusal: Error },
    outgoing: readonly Outgoing[],
  ): Promise<Outgoing[]> {
    const partitions = await readPartitions(kafka, topic);
    if (partitions === null) {
      refused.add({ topic, partition: null }, refusal);
      return [...outgoing];
    }
    partitionsOf.set(topic, partitions);
    return await sendEachPartition(send, outgoing);
  }

  function partitionOf({ topic, message }: Outgoing): TopicPartition {
    const partitionMetadata = partitionsOf.get(topic);
    const partition = partitionMetadata && partitioner({ topic, partitionMetadata, message });
    return { topic, partition: partition ?? null };
  }
}

/** Null where the broker knows no such topic. */
async function readPartitions(kafka: Kafka, topic: string): Promise<PartitionMetadata[] | null> {
  const admin = kafka.admin({ retry: PUBLISH_RETRY });
  try {
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]?.partitions ?? null;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  } finally {
    await admin.disconnect();
  }
}

/** Null where all of it is durable, else the refusal; a broker that is away is an error. */
async function trySend(send: Send, outgoing: readonly Outgoing[]): Promise<Error | null> {
  try {
    await send(outgoing);
    return null;
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
}

/** Whether the broker answered, and what it said is about these topics or messages. */
function isRefusal(error: unknown): error is Error {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'KafkaJSProtocolError') return true;
  }
  return false;
}
