import type { Admin } from 'kafkajs';

/** The first offset that a partition still has, and the one after its last. */
export type Ends = { low: bigint; high: bigint };

/**
 * Messages of a partition from an offset on. What retention has dropped is not waited for; a group that never committed
 * (a negative offset) begins with what is left.
 */
export function countUnread(ends: Ends | undefined, next: bigint): bigint {
  if (ends === undefined) return 0n;
  return ends.high - (next < ends.low ? ends.low : next);
}

/** The ends of each partition of a topic. */
export async function readEnds(admin: Admin, topic: string): Promise<Map<number, Ends>> {
  const offsets = await admin.fetchTopicOffsets(topic);
  return new Map(
    offsets.map(({ partition, low, high }) => [
      partition,
      { low: BigInt(low), high: BigInt(high) },
    ]),
  );
}

/** `readEnds`, once for each topic, however often it is asked for. */
export function endsByTopic(admin: Admin): (topic: string) => Promise<Map<number, Ends>> {
  const topics = new Map<string, Promise<Map<number, Ends>>>();
  return (topic) => {
    const ends = topics.get(topic) ?? readEnds(admin, topic);
    topics.set(topic, ends);
    return ends;
  };
}
