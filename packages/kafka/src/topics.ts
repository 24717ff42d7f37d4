import { setTimeout as delay } from 'node:timers/promises';

import { PARTITIONS_PER_TOPIC, TOPIC_RETENTION_MS, TOPICS } from '@pixmesh/contracts/topics';
import type { Admin } from 'kafkajs';

import { createKafka, type KafkaOptions, withAdmin } from './kafka-client.ts';

const LEADER_POLL_MS = 100;
const LEADER_TRIES_MAX = 100;

type CreateTopicsOptions = KafkaOptions & {
  replicationFactor: number;
  minInsyncReplicas: number;
  /** Prepended to every topic name; tests use it to share one broker. */
  topicPrefix: string;
  partitions?: number;
};

/** Creates every topic that does not exist yet. Run by the deploy job: brokers never create topics. */
export async function createTopics(options: CreateTopicsOptions): Promise<void> {
  const names = Object.values(TOPICS).map((topic) => options.topicPrefix + topic);
  await withAdmin(createKafka(options), async (admin) => {
    await admin.createTopics({
      // The library's own wait fails on a broker that does not have a new topic yet.
      waitForLeaders: false,
      topics: names.map((topic) => ({
        topic,
        numPartitions: options.partitions ?? PARTITIONS_PER_TOPIC,
        replicationFactor: options.replicationFactor,
        configEntries: [
          { name: 'min.insync.replicas', value: String(options.minInsyncReplicas) },
          { name: 'retention.ms', value: String(TOPIC_RETENTION_MS) },
        ],
      })),
    });
    await waitForLeaders(admin, names);
  });
}

async function waitForLeaders(admin: Admin, topics: string[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const metadata = await admin.fetchTopicMetadata({ topics });
      const partitions = metadata.topics.flatMap((topic) => topic.partitions);
      if (partitions.every((partition) => partition.leader >= 0)) return;
    } catch (error) {
      if (tries >= LEADER_TRIES_MAX) throw error;
    }
    if (tries >= LEADER_TRIES_MAX) throw new Error('the topics have no leaders');
    await delay(LEADER_POLL_MS);
  }
}
