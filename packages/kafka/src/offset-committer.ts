import { within } from '@pixmesh/kernel/within';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { Consumer } from 'kafkajs';

/**
 * A commit costs the broker a record and both sides a request, for each group of each process. What was handled in the
 * last second before a kill, or before another member joins, is repeated: the effects' own keys make it harmless.
 */
const COMMIT_INTERVAL_MS = 1_000;
const LAST_COMMIT_TIMEOUT_MS = 1_000;

export type OffsetCommitter = {
  resolved(topic: string, partition: number, offset: bigint): void;
  stop(): Promise<void>;
};

/**
 * Commits the offsets of handled messages together, some time after the first of them; the broker's offset is only a
 * hint. Where nothing is handled there is no timer.
 */
export function createOffsetCommitter(
  consumer: Pick<Consumer, 'commitOffsets' | 'on' | 'events'>,
  { groupId, logger }: { groupId: string; logger: Logger },
): OffsetCommitter {
  const pending = new Map<string, { topic: string; partition: number; offset: string }>();
  let committing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;
  /** The broker has dropped this member, which goes on as one until its next heartbeat. */
  let isDropped = false;
  consumer.on(consumer.events.GROUP_JOIN, () => {
    // A partition may have gone to another member, whose offset ours would put back.
    pending.clear();
    isDropped = false;
  });
  return {
    resolved: (topic, partition, offset) => {
      pending.set(`${topic}/${partition}`, { topic, partition, offset: String(offset + 1n) });
      expectCommit();
    },
    stop: async () => {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      await within(LAST_COMMIT_TIMEOUT_MS, committing.then(commit), undefined);
    },
  };

  /** One commit at a time: an older one that is tried again would undo a newer one. */
  function expectCommit(): void {
    if (isStopped || timer !== null) return;
    timer = setTimeout(() => {
      committing = commit().finally(() => {
        timer = null;
        if (pending.size > 0) expectCommit();
      });
    }, COMMIT_INTERVAL_MS);
    timer.unref();
  }

  async function commit(): Promise<void> {
    if (pending.size === 0) return;
    const offsets = [...pending.values()];
    pending.clear();
    // Refused after a rebalance: the partition's new owner repeats the messages, without effect.
    await consumer.commitOffsets(offsets).catch(logDropped);
  }

  /** Once until it has joined again. */
  function logDropped(error: unknown): void {
    if (isDropped || !isUnknownMember(error)) return;
    isDropped = true;
    logger.warn({ err: error, group_id: groupId }, 'offsets not committed: no member of the group');
  }
}

function isUnknownMember(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ((cause as { type?: unknown }).type === 'UNKNOWN_MEMBER_ID') return true;
  }
  return false;
}
