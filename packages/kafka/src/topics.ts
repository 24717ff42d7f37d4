import { PARTITIONS_PER_TOPIC, TOPIC_RETENTION_MS, TOPICS } from '@pixmesh/contracts/topics';

import { createKafka, type KafkaOptions } from './kafka-client.ts';

type CreateTopicsOptions = KafkaOptions & {
  replicationFactor: number;
  minInsyncReplicas: number;
  /** Prepended to every topic name; tests use it to share one broker. */
  topicPrefix: string;
  partitions?: number;
};

/** Creates every topic that does not exist yet. Run by the deploy job: brokers never create topics. */
export async function createTopics(options: CreateTopicsOptions): Promise<void> {
  const admin = createKafka(options).admin();
  await admin.connect();
  try {
    await admin.createTopics({
      waitForLeaders: true,
      topics: Object.values(TOPICS).map((topic) => ({
        topic: options.topicPrefix + topic,
        numPartitions: options.partitions ?? PARTITIONS_PER_TOPIC,
        replicationFactor: options.replicationFactor,
        configEntries: [
          { name: 'min.insync.replicas', value: String(options.minInsyncReplicas) },
          { name: 'retention.ms', value: String(TOPIC_RETENTION_MS) },
        ],
      })),
    });
  } finally {
    await admin.disconnect();
  }
}
