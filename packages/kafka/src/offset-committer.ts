import type { Consumer } from 'kafkajs';

/** How much work may repeat after a crash; the effects' own keys make the repeat harmless. */
const COMMIT_INTERVAL_MS = 200;

export type OffsetCommitter = {
  resolved(topic: string, partition: number, offset: bigint): void;
  stop(): Promise<void>;
};

/** Commits offsets of handled messages every so often; the broker's offset is only a hint. */
export function createOffsetCommitter(consumer: Consumer): OffsetCommitter {
  const pending = new Map<string, { topic: string; partition: number; offset: string }>();
  const timer = setInterval(() => void commit(), COMMIT_INTERVAL_MS);
  timer.unref();
  return {
    resolved: (topic, partition, offset) => {
      pending.set(`${topic}/${partition}`, { topic, partition, offset: String(offset + 1n) });
    },
    stop: async () => {
      clearInterval(timer);
      await commit();
    },
  };

  async function commit(): Promise<void> {
    if (pending.size === 0) return;
    const offsets = [...pending.values()];
    pending.clear();
    // Refused after a rebalance: the partition's new owner repeats the messages, without effect.
    await consumer.commitOffsets(offsets).catch(() => undefined);
  }
}
