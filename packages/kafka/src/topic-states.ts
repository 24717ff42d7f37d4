import type { ConfigResourceTypes } from 'kafkajs';

import type { BrokerAccess } from './broker-access.ts';
import { createToolKafka, withAdmin } from './kafka-client.ts';
import { countUnread, endsByTopic } from './topic-ends.ts';

/** How a topic stands at the broker. */
export type TopicState = {
  topic: string;
  partitions: number;
  /** Kept at present; what retention has dropped is gone. */
  messages: bigint;
  retentionMs: number | null;
};

/** How far a consumer group has come on one partition. */
export type GroupLag = {
  group: string;
  /** `Stable` while it consumes; `Empty` where no process of it runs. */
  state: string;
  members: number;
  topic: string;
  partition: number;
  /** The next message that it handles; null where it has never committed one. */
  committed: bigint | null;
  end: bigint;
  lag: bigint;
};

/** The protocol's number; the library's names are not exported to ES modules. */
export const TOPIC_CONFIG: ConfigResourceTypes.TOPIC = 2;

/** The state of each topic, in the order given. */
export async function readTopicStates(
  access: BrokerAccess,
  topics: readonly string[],
): Promise<TopicState[]> {
  return await withAdmin(createToolKafka(access, 'topics-list'), async (admin) => {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: topics.map((name) => ({
        type: TOPIC_CONFIG,
        name,
        configNames: ['retention.ms'],
      })),
    });
    const retentions = new Map(
      resources.map(({ resourceName, configEntries }) => [
        resourceName,
        configEntries.find(({ configName }) => configName === 'retention.ms')?.configValue,
      ]),
    );
    return await Promise.all(
      topics.map(async (topic) => {
        const offsets = await admin.fetchTopicOffsets(topic);
        const messages = offsets.map(({ high, low }) => BigInt(high) - BigInt(low));
        const retention = retentions.get(topic);
        return {
          topic,
          partitions: offsets.length,
          messages: messages.reduce((sum, count) => sum + count, 0n),
          retentionMs: retention ? Number(retention) : null,
        };
      }),
    );
  });
}

/** What each group has still to handle of the topics that it reads, by partition; those that only look are left out. */
export async function readGroupLags(
  access: BrokerAccess,
  isOurs: (group: string) => boolean,
): Promise<GroupLag[]> {
  return await withAdmin(createToolKafka(access, 'topics-lag'), async (admin) => {
    const listed = await admin.listGroups();
    const ids = listed.groups.map(({ groupId }) => groupId).filter(isOurs);
    const { groups } = await admin.describeGroups(ids.toSorted());
    const endsOf = endsByTopic(admin);
    const lags = groups.map(async ({ groupId: group, state, members }) => {
      const offsets = await admin.fetchOffsets({ groupId: group });
      const ofTopics = offsets.map(async ({ topic, partitions }) => {
        const endOf = await endsOf(topic);
        const inOrder = partitions.toSorted((one, other) => one.partition - other.partition);
        return inOrder.map(({ partition, offset }): GroupLag => {
          const ends = endOf.get(partition);
          const committed = BigInt(offset) < 0n ? null : BigInt(offset);
          const place = { group, state, members: members.length, topic, partition };
          const lag = countUnread(ends, BigInt(offset));
          return { ...place, committed, end: ends?.high ?? 0n, lag };
        });
      });
      return (await Promise.all(ofTopics)).flat();
    });
    return (await Promise.all(lags)).flat();
  });
}
