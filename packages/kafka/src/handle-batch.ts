import { counter } from '@pixmesh/telemetry/metrics';
import type { EachBatchPayload } from 'kafkajs';

import { handleMessage, type HandleMessageDeps } from './handle-message.ts';
import { toIncoming } from './incoming-message.ts';
import type { OffsetCommitter } from './offset-committer.ts';

/** How long a partition rests while the database or a peer is away. */
const PAUSE_MS = 500;
/** The next fetch waits for every partition's batch: a slow one ends here, and its rest is fetched again. */
const BATCH_MS_MAX = 2_000;
/** The library sends heartbeats between messages only; one handler may outlast the session. */
const HEARTBEAT_CHECK_MS = 500;
/** A handler that takes longer than this hangs: the group and the liveness check shall notice. */
const HANDLER_MS_MAX = 30_000;

export type HandleBatchDeps = HandleMessageDeps & {
  topicPrefix: string;
  offsets: Pick<OffsetCommitter, 'resolved'>;
  stopping: AbortSignal;
  /** Partitions that wait for a dependency, so that the log says so once. */
  waiting: Set<string>;
};

type Payload = Pick<
  EachBatchPayload,
  'batch' | 'resolveOffset' | 'heartbeat' | 'pause' | 'isRunning' | 'isStale'
>;

const pauses = counter('kafka_partition_pauses_total', 'Pauses because a dependency was away');

/**
 * Handles a batch message by message, in order. It ends early when the consumer stops, at its time limit and
 * when a dependency is away; messages that are not resolved by then are fetched again, from the first one on.
 */
export async function handleBatch(deps: HandleBatchDeps, payload: Payload): Promise<void> {
  const { batch } = payload;
  const startedMs = performance.now();
  const handler = keepSession(payload);
  try {
    for (const message of batch.messages) {
      // A stopping consumer is handed batches until it has left; the pause keeps it from fetching them again.
      if (deps.stopping.aborted) return void payload.pause();
      if (!payload.isRunning() || payload.isStale()) return;
      if (performance.now() - startedMs > BATCH_MS_MAX) return;
      handler.begins();
      const incoming = toIncoming(deps.topicPrefix, batch, message);
      const outcome = await handleMessage(deps, incoming);
      if (outcome.kind === 'unavailable') return waitForDependency(deps, payload, outcome.error);
      deps.waiting.delete(nameOf(batch));
      payload.resolveOffset(message.offset);
      deps.offsets.resolved(batch.topic, batch.partition, incoming.offset);
      // Rejects when the group rebalances: the rest of the batch may be another member's by now.
      await payload.heartbeat();
    }
    // Control records at the end of the batch reach no handler, and would hold the offset back.
    payload.resolveOffset(batch.lastOffset());
    deps.offsets.resolved(batch.topic, batch.partition, BigInt(batch.lastOffset()));
  } finally {
    handler.ends();
  }
}

function waitForDependency(deps: HandleBatchDeps, payload: Payload, error: unknown): void {
  const { topic, partition } = payload.batch;
  pauses.add(1, { topic: topic.slice(deps.topicPrefix.length) });
  const name = nameOf(payload.batch);
  if (!deps.waiting.has(name)) {
    deps.logger.warn({ err: error, topic, partition }, 'a dependency is away: the partition waits');
  }
  deps.waiting.add(name);
  setTimeout(payload.pause(), PAUSE_MS).unref();
}

/** Beats while a handler works. A refused heartbeat is repeated, and thrown, after the message. */
function keepSession(payload: Payload): { begins(): void; ends(): void } {
  let beganMs = performance.now();
  const timer = setInterval(() => {
    if (performance.now() - beganMs > HANDLER_MS_MAX) return;
    void payload.heartbeat().catch(() => undefined);
  }, HEARTBEAT_CHECK_MS);
  return {
    begins: () => {
      beganMs = performance.now();
    },
    ends: () => clearInterval(timer),
  };
}

function nameOf({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}/${partition}`;
}
