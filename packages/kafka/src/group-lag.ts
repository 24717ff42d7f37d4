import type { Topic } from '@pixmesh/contracts/topics';
import type { Admin } from 'kafkajs';

import { countUnread, type Ends } from './topic-ends.ts';

/**
 * Ages that are measured, in seconds: the broker says which messages are older than a moment, and not how old one is
 * whose content we may not read. What is said is the largest of these that the oldest unread message has passed.
 */
const AGES = [
  5, 10, 20, 30, 45, 60, 90, 120, 300, 600, 1_800, 3_600, 21_600, 86_400, 259_200, 604_800,
] as const;

/** What a group has not handled of a topic. */
type Lag = {
  messages: number;
  /** The oldest of them has passed this age, and is younger than the next one; both are 0 where there is none. */
  ageSeconds: number;
  ageSecondsMax: number;
};

type Place = {
  topicPrefix: string;
  groupId: string;
  topic: Topic;
  endsOf(name: string): Promise<Map<number, Ends>>;
};

/** Nothing is read of any message. */
export async function readLag(admin: Admin, place: Place): Promise<Lag> {
  const { topicPrefix, topic } = place;
  const name = topicPrefix + topic;
  const groupId = topicPrefix + place.groupId;
  const [[committed], ends] = await Promise.all([
    admin.fetchOffsets({ groupId, topics: [name] }),
    place.endsOf(name),
  ]);
  const unread = new Map<number, bigint>();
  let messages = 0;
  for (const { partition, offset } of committed?.partitions ?? []) {
    const count = countUnread(ends.get(partition), BigInt(offset));
    if (count <= 0n) continue;
    unread.set(partition, (ends.get(partition)?.high ?? 0n) - count);
    messages += Number(count);
  }
  if (unread.size === 0) return { messages, ageSeconds: 0, ageSecondsMax: 0 };
  return { messages, ...(await readAge(admin, name, unread)) };
}

/** By halves: a look at the broker for each. `unread` has the first unread offset of each partition that has one. */
async function readAge(
  admin: Admin,
  topic: string,
  unread: ReadonlyMap<number, bigint>,
): Promise<Omit<Lag, 'messages'>> {
  const nowMs = Date.now();
  let [ageSeconds, ageSecondsMax] = [0, Infinity];
  let rest: readonly number[] = AGES;
  while (rest.length > 0) {
    const middle = Math.floor(rest.length / 2);
    const seconds = rest[middle]!;
    const youngest = await admin.fetchTopicOffsetsByTimestamp(topic, nowMs - seconds * 1000);
    const isOlder = youngest.some(({ partition, offset }) => {
      const first = unread.get(partition);
      return first !== undefined && BigInt(offset) > first;
    });
    if (isOlder) ageSeconds = seconds;
    else ageSecondsMax = seconds;
    rest = isOlder ? rest.slice(middle + 1) : rest.slice(0, middle);
  }
  return { ageSeconds, ageSecondsMax };
}
