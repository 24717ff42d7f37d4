import { setTimeout as delay } from 'node:timers/promises';

import { PARTITIONS_PER_TOPIC, TOPIC_RETENTION_MS, TOPICS } from '@pixmesh/contracts/topics';
import type { Admin, ConfigSource } from 'kafkajs';

import { createKafka, type KafkaOptions, withAdmin } from './kafka-client.ts';
import { TOPIC_CONFIG } from './topic-states.ts';

/**
 * The broker says when a message came. By the time of its producer, whose clock may be wrong, it would refuse what is
 * an hour ahead and drop too early what is behind.
 */
const BROKER_TIME = { name: 'message.timestamp.type', value: 'LogAppendTime' };
/** The protocol's number, as `TOPIC_CONFIG` is. */
const SET_ON_TOPIC: ConfigSource.TOPIC_CONFIG = 1;

const KNOWN_POLL_MS = 100;
const KNOWN_TRIES_MAX = 100;

type CreateTopicsOptions = KafkaOptions & {
  replicationFactor: number;
  minInsyncReplicas: number;
  /** Prepended to every topic name; tests use it to share one broker. */
  topicPrefix: string;
  partitions?: number;
};

/**
 * Creates every topic that does not exist yet; one that does gets the broker's time and is left alone otherwise. Run by
 * the deploy job: brokers never create topics.
 */
export async function createTopics(options: CreateTopicsOptions): Promise<void> {
  const names = Object.values(TOPICS).map((topic) => options.topicPrefix + topic);
  await withAdmin(createKafka(options), async (admin) => {
    const areNew = await admin.createTopics({
      // The library's own wait fails on a broker that does not have a new topic yet.
      waitForLeaders: false,
      topics: names.map((topic) => ({
        topic,
        numPartitions: options.partitions ?? PARTITIONS_PER_TOPIC,
        replicationFactor: options.replicationFactor,
        configEntries: [
          { name: 'min.insync.replicas', value: String(options.minInsyncReplicas) },
          { name: 'retention.ms', value: String(TOPIC_RETENTION_MS) },
          BROKER_TIME,
        ],
      })),
    });
    await untilKnown(() => checkLeaders(admin, names));
    if (!areNew) await untilKnown(() => useBrokerTime(admin, names));
  });
}

async function checkLeaders(admin: Admin, topics: string[]): Promise<void> {
  const metadata = await admin.fetchTopicMetadata({ topics });
  const partitions = metadata.topics.flatMap((topic) => topic.partitions);
  if (partitions.some(({ leader }) => leader < 0)) throw new Error('the topics have no leaders');
}

/** The library's request takes away every setting that it does not name, so an operator's are named too. */
async function useBrokerTime(admin: Admin, topics: string[]): Promise<void> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type: TOPIC_CONFIG, name })),
  });
  const altered = resources.flatMap(({ resourceName, configEntries }) => {
    const settings = new Map(configEntries.map((one) => [one.configName, one]));
    if (settings.get(BROKER_TIME.name)?.configValue === BROKER_TIME.value) return [];
    settings.delete(BROKER_TIME.name);
    const kept = [...settings.values()]
      .filter(({ configSource }) => configSource === SET_ON_TOPIC)
      .map(({ configName, configValue }) => ({ name: configName, value: configValue }));
    return { type: TOPIC_CONFIG, name: resourceName, configEntries: [...kept, BROKER_TIME] };
  });
  if (altered.length > 0) await admin.alterConfigs({ validateOnly: false, resources: altered });
}

/** A broker learns of a new topic some time after the one that made it. */
async function untilKnown(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= KNOWN_TRIES_MAX) throw error;
    }
    await delay(KNOWN_POLL_MS);
  }
}
