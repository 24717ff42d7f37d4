import { AppError } from '@pixmesh/kernel/app-error';
import { counter } from '@pixmesh/telemetry/metrics';
import type { EachBatchPayload } from 'kafkajs';

import { handleMessage, type HandleMessageDeps, type HandledMessage } from './handle-message.ts';
import { toIncoming, toTextHeaders, typeOf } from './incoming-message.ts';
import { isForOthers, isRegistryAway } from './message-handler.ts';
import type { OffsetCommitter } from './offset-committer.ts';
import type { MessageCodec } from './message-codec.ts';
import { TOPIC_LABELS } from './topic-labels.ts';

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
  /** Messages in hand at once; one where it is absent. */
  concurrency?: { max: number };
};

type Payload = Pick<
  EachBatchPayload,
  'batch' | 'resolveOffset' | 'heartbeat' | 'pause' | 'isRunning' | 'isStale'
>;
type Message = Payload['batch']['messages'][number];
type InHand = { message: Message; handling: Promise<HandledMessage> };
/** Whether a message of the batch has to come again: none that has not begun may overtake it. */
type BatchProgress = { mustComeAgain: boolean };

const FOR_OTHERS: Promise<HandledMessage> = Promise.resolve({ kind: 'handled' });

const pauses = counter(
  'kafka_partition_pauses_total',
  'Pauses because a dependency was away',
  TOPIC_LABELS,
);

/**
 * Handles a batch in order: handlers begin in the order of the messages, up to `concurrency.max` at once, and an offset
 * is resolved only when all before it are. It ends early when the consumer stops, at its time limit and when a
 * dependency is away; messages that are not resolved by then are fetched again, from the first one on, and what some
 * of them had already done has their effects' own keys to recognise it by.
 */
export async function handleBatch(deps: HandleBatchDeps, payload: Payload): Promise<void> {
  const { batch } = payload;
  const startedMs = performance.now();
  const session = keepSession(payload);
  const inHandMax = deps.concurrency?.max ?? 1;
  const inHand: InHand[] = [];
  const progress: BatchProgress = { mustComeAgain: false };
  const begin = handlerOf(deps, payload, progress);
  const coming = batch.messages.values();
  try {
    for (;;) {
      while (
        inHand.length < inHandMax &&
        !progress.mustComeAgain &&
        mayBegin(deps, payload, startedMs)
      ) {
        const { value: message } = coming.next();
        if (message === undefined) break;
        inHand.push({ message, handling: begin(message) });
      }
      const oldest = inHand.shift();
      if (oldest === undefined) break;
      session.begins();
      const outcome = await oldest.handling;
      if (outcome.kind === 'unavailable') return waitForDependency(deps, payload, outcome.error);
      deps.waiting.delete(nameOf(batch));
      resolve(deps, payload, oldest.message.offset);
      // Rejects when the group rebalances: the rest of the batch may be another member's by now.
      await payload.heartbeat();
    }
    // A stopping consumer is handed batches until it has left; the pause keeps it from fetching them again.
    if (deps.stopping.aborted) return void payload.pause();
    // Control records at the end of the batch reach no handler, and would hold the offset back.
    if (coming.next().done === true) resolve(deps, payload, batch.lastOffset());
  } finally {
    // No handler outlives its batch: the next fetch would begin the same messages beside it.
    await Promise.all(inHand.map(({ handling }) => handling));
    session.ends();
  }
}

function mayBegin(deps: HandleBatchDeps, payload: Payload, startedMs: number): boolean {
  if (deps.stopping.aborted || !payload.isRunning() || payload.isStale()) return false;
  return performance.now() - startedMs <= BATCH_MS_MAX;
}

/**
 * Begins messages one after the other, although it waits for none: a slow decoding holds up those behind it. A message
 * for others is handled at once, without a span: a topic may hold more of them than of a consumer's own.
 */
function handlerOf(
  deps: HandleBatchDeps,
  { batch }: Payload,
  progress: BatchProgress,
): (message: Message) => Promise<HandledMessage> {
  const inOrder = { ...deps, codec: decodeInOrder(deps.codec, progress) };
  return (message) => {
    const readHeaders = () => toTextHeaders(message.headers ?? {});
    if (isForOthers(deps.handlers, typeOf(message), readHeaders)) return FOR_OTHERS;
    return watch(handleMessage(inOrder, toIncoming(deps.topicPrefix, batch, message)));
  };

  async function watch(handling: Promise<HandledMessage>): Promise<HandledMessage> {
    const outcome = await handling;
    if (outcome.kind === 'unavailable') progress.mustComeAgain = true;
    return outcome;
  }
}

function decodeInOrder(
  codec: Pick<MessageCodec, 'decode'>,
  progress: BatchProgress,
): Pick<MessageCodec, 'decode'> {
  let last: Promise<unknown> = Promise.resolve();
  return {
    decode: (value) => {
      const decoded = last.then(() => decode(value));
      last = decoded.catch(() => undefined);
      return decoded;
    },
  };

  /** Those whose turn comes after a message that has to come again come again with it. */
  async function decode(value: Buffer): Promise<unknown> {
    try {
      const decoded = await codec.decode(value);
      if (!progress.mustComeAgain) return decoded;
    } catch (error) {
      if (isRegistryAway(error)) progress.mustComeAgain = true;
      throw error;
    }
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'a message in front comes again' });
  }
}

function resolve(deps: HandleBatchDeps, { batch, resolveOffset }: Payload, offset: string): void {
  resolveOffset(offset);
  deps.offsets.resolved(batch.topic, batch.partition, BigInt(offset));
}

function waitForDependency(deps: HandleBatchDeps, payload: Payload, error: unknown): void {
  const { topic, partition } = payload.batch;
  pauses.add(1, { topic: topic.slice(deps.topicPrefix.length) });
  const name = nameOf(payload.batch);
  if (!deps.waiting.has(name)) {
    deps.logger.warn({ err: error, topic, partition }, 'partition paused: dependency unavailable');
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
