import type { Topic } from '@pixmesh/contracts/topics';
import { within } from '@pixmesh/kernel/within';
import { sharedFor } from '@pixmesh/telemetry/metrics';
import type { Admin } from 'kafkajs';

import { readLag } from './group-lag.ts';
import { createKafka, type KafkaOptions, withAdmin } from './kafka-client.ts';
import { readEnds } from './topic-ends.ts';

/** An answer is kept for so long: any number of readers cost the broker a few requests in this time. */
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
  /** The group has handled all that was published before; null while the broker does not say. */
  handledUntil(): Promise<Date | null>;
};

type Backlog = { count: number; handledUntil: Date };

/**
 * What a consumer group has still to handle, by the offsets at the broker, so that it is seen also where no process of
 * the group lives.
 */
export function createGroupBacklog(options: BacklogOptions): GroupBacklog {
  const shared = sharedFor(KEPT_MS, () => readBacklog(options).catch(() => null));
  const read = () => within(ANSWER_MS_MAX, shared(), null);
  return {
    count: async () => (await read())?.count ?? null,
    handledUntil: async () => (await read())?.handledUntil ?? null,
  };
}

async function readBacklog(options: BacklogOptions): Promise<Backlog> {
  const startedMs = Date.now();
  const read = async (admin: Admin) => {
    const endsOf = (name: string) => readEnds(admin, name);
    const places = options.topics.map((topic) => ({ ...options, topic, endsOf }));
    return await Promise.all(places.map((place) => readLag(admin, place)));
  };
  const lags = await withAdmin(createKafka(options), read, { retry: { retries: 1 } });
  const ageMs = 1000 * Math.max(...lags.map(({ ageSecondsMax }) => ageSecondsMax));
  return {
    count: lags.reduce((sum, { messages }) => sum + messages, 0),
    handledUntil: new Date(Math.max(0, startedMs - ageMs)),
  };
}
