import type { Admin } from 'kafkajs';

/** The first offset that a partition still has, and the one after its last. */
export type Ends = { low: bigint; high: bigint };

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
