import type { Topic } from '@pixmesh/contracts/topics';
import { within } from '@pixmesh/kernel/within';
import { sharedFor } from '@pixmesh/telemetry/metrics';
import type { Admin } from 'kafkajs';

import { createKafka, type KafkaOptions, withAdmin } from './kafka-client.ts';
import { countUnread, readEnds } from './topic-ends.ts';

/** A count is kept for so long: any number of readers cost the broker a few requests in this time. */
const KEPT_MS = 5_000;
/** Without an answer by then the backlog is not known. */
const ANSWER_MS_MAX = 3_000;

export type BacklogOptions = KafkaOptions & {
  topicPrefix: string;
  groupId: string;
  topics: readonly Topic[];
};

export type GroupBacklog = {
  /** Messages that the group has not handled yet, some seconds old at most; null while the broker does not say. */
  count(): Promise<number | null>;
};

/**
 * What a consumer group has still to handle, by the offsets at the broker, so that it is seen also where no process of
 * the group lives.
 */
export function createGroupBacklog(options: BacklogOptions): GroupBacklog {
  const read = sharedFor(KEPT_MS, () => readBacklog(options).catch(() => null));
  return {
    count: () => within(ANSWER_MS_MAX, read(), null),
  };
}

async function readBacklog(options: BacklogOptions): Promise<number> {
  const topics = options.topics.map((topic) => options.topicPrefix + topic);
  const groupId = options.topicPrefix + options.groupId;
  const read = async (admin: Admin): Promise<number> => {
    const committed = await admin.fetchOffsets({ groupId, topics });
    const counts = committed.map(async ({ topic, partitions }) => {
      const ends = await readEnds(admin, topic);
      return partitions.map(({ partition, offset }) => {
        return Number(countUnread(ends.get(partition), BigInt(offset)));
      });
    });
    return (await Promise.all(counts)).flat().reduce((sum, waiting) => sum + waiting, 0);
  };
  return await withAdmin(createKafka(options), read, { retry: { retries: 1 } });
}
