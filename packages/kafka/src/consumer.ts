import { setTimeout as delay } from 'node:timers/promises';

import type { Topic } from '@pixmesh/contracts/topics';
import { AppError } from '@pixmesh/kernel/app-error';
import { counter } from '@pixmesh/telemetry/metrics';
import { withSpan } from '@pixmesh/telemetry/tracing';
import type { Consumer, EachBatchPayload, IHeaders, KafkaMessage } from 'kafkajs';

import { CLIENT_RETRY, createKafka, type KafkaOptions } from './kafka-client.ts';
import { dispatchMessage, type IncomingMessage, type MessageHandler } from './message-handler.ts';
import { createOffsetCommitter } from './offset-committer.ts';
import type { MessageCodec } from './schema-registry.ts';

/** How often a message that fails for no known reason is tried before it is parked. */
const HANDLE_TRIES_MAX = 3;
const HANDLE_RETRY_DELAY_MS = 100;
/** How long a partition rests while the database or a peer is away. */
const PAUSE_MS = 500;
const RECONNECT_DELAY_MS = 1_000;
const MAX_WAIT_MS = 100;
const MAX_BYTES_PER_PARTITION = 128 * 1024;
/** Without any sign of life from the library for this long, the process is better restarted. */
const SILENCE_MS_MAX = 120_000;

type ConsumerOptions = KafkaOptions & {
  groupId: string;
  topics: readonly Topic[];
  topicPrefix: string;
  codec: Pick<MessageCodec, 'decode'>;
  handlers: readonly MessageHandler[];
  /** Writes a message that is wrong in itself to `dead_letters`. */
  park(message: IncomingMessage & { code: string; reason: string }): Promise<void>;
  /** Called when the library has given up for good: the process must end and be started again. */
  onFatal(error: Error): void;
};

export type RunningConsumer = {
  /** False once the consumer has shown no activity for longer than any wait it is allowed. */
  isAlive(): boolean;
  /** Finishes messages in hand, commits, leaves the group. */
  stop(): Promise<void>;
};

const parked = counter('kafka_messages_parked_total', 'Messages written to dead_letters');

/**
 * Runs handlers over topics, at least once and in order per key. A handler's failure never reaches the
 * library: what is wrong in itself is parked and the partition moves on; while a database or peer is away
 * the partition is paused and nothing is parked.
 */
export function startConsumer(options: ConsumerOptions): RunningConsumer {
  const consumer = createKafka(options).consumer({
    groupId: options.topicPrefix + options.groupId,
    sessionTimeout: 6_000,
    heartbeatInterval: 1_000,
    rebalanceTimeout: 10_000,
    maxWaitTimeInMs: MAX_WAIT_MS,
    minBytes: 1,
    maxBytesPerPartition: MAX_BYTES_PER_PARTITION,
    allowAutoTopicCreation: false,
    retry: CLIENT_RETRY,
  });
  const stopping = new AbortController();
  const offsets = createOffsetCommitter(consumer);
  const activity = watchActivity(consumer, options);
  const connecting = connect();
  return {
    isAlive: activity.isAlive,
    stop: async () => {
      stopping.abort();
      await connecting;
      await offsets.stop();
      await consumer.disconnect().catch(() => undefined);
    },
  };

  /** The broker may be away while a service starts; its HTTP routes do not wait for it. */
  async function connect(): Promise<void> {
    const topics = options.topics.map((topic) => options.topicPrefix + topic);
    while (!stopping.signal.aborted) {
      try {
        await consumer.connect();
        await consumer.subscribe({ topics, fromBeginning: true });
        await consumer.run({
          autoCommit: false,
          eachBatchAutoResolve: false,
          partitionsConsumedConcurrently: 12 * topics.length,
          eachBatch: (payload) => handleBatch({ ...options, offsets }, payload),
        });
        return;
      } catch (error) {
        options.logger.warn({ err: error }, 'consumer waits for the broker');
        await delay(RECONNECT_DELAY_MS, undefined, { signal: stopping.signal }).catch(
          () => undefined,
        );
      }
    }
  }
}

type BatchDeps = ConsumerOptions & { offsets: ReturnType<typeof createOffsetCommitter> };

async function handleBatch(deps: BatchDeps, payload: EachBatchPayload): Promise<void> {
  const { batch } = payload;
  for (const message of batch.messages) {
    if (!payload.isRunning() || payload.isStale()) return;
    const incoming = toIncoming(deps.topicPrefix, batch, message);
    if ((await handleMessage(deps, incoming)) === 'unavailable') {
      const resume = payload.pause();
      setTimeout(resume, PAUSE_MS).unref();
      return;
    }
    payload.resolveOffset(message.offset);
    deps.offsets.resolved(batch.topic, batch.partition, incoming.offset);
    await payload.heartbeat();
  }
  payload.resolveOffset(batch.lastOffset());
}

async function handleMessage(
  deps: ConsumerOptions,
  incoming: IncomingMessage,
): Promise<'handled' | 'unavailable'> {
  const parent = incoming.headers['traceparent'] ?? null;
  const attributes = { 'messaging.system': 'kafka', 'messaging.destination.name': incoming.topic };
  try {
    await withSpan(`process ${incoming.topic}`, { kind: 'consumer', parent, attributes }, () =>
      dispatchWithRetries(deps, incoming),
    );
    return 'handled';
  } catch (error) {
    if (isUnavailable(error)) return 'unavailable';
    return await parkMessage(deps, incoming, error);
  }
}

async function dispatchWithRetries(
  deps: ConsumerOptions,
  incoming: IncomingMessage,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await dispatchMessage(deps, incoming);
      return;
    } catch (error) {
      if (error instanceof AppError || tries === HANDLE_TRIES_MAX) throw error;
      await delay(HANDLE_RETRY_DELAY_MS);
    }
  }
}

async function parkMessage(
  deps: ConsumerOptions,
  incoming: IncomingMessage,
  error: unknown,
): Promise<'handled' | 'unavailable'> {
  const code = error instanceof AppError ? error.code : 'INTERNAL_ERROR';
  const reason = error instanceof Error ? error.message : 'unknown';
  try {
    await deps.park({ ...incoming, code, reason });
  } catch (parkingError) {
    deps.logger.warn({ err: parkingError }, 'a message could not be parked; its partition waits');
    return 'unavailable';
  }
  parked.add(1, { topic: incoming.topic });
  deps.logger.error(
    { err: error, topic: incoming.topic, event_id: incoming.headers['event_id'] },
    'message parked in dead_letters',
  );
  return 'handled';
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.retriable;
}

/** Follows the library's own events: fetching, joining and crashing are all signs of life. */
function watchActivity(consumer: Consumer, options: ConsumerOptions): { isAlive(): boolean } {
  let lastActivityMs = performance.now();
  const { CRASH, FETCH, GROUP_JOIN, HEARTBEAT } = consumer.events;
  for (const event of [FETCH, GROUP_JOIN, HEARTBEAT]) {
    consumer.on(event, () => {
      lastActivityMs = performance.now();
    });
  }
  consumer.on(CRASH, ({ payload }) => {
    lastActivityMs = performance.now();
    if (!payload.restart) options.onFatal(payload.error);
  });
  return { isAlive: () => performance.now() - lastActivityMs < SILENCE_MS_MAX };
}

function toIncoming(
  topicPrefix: string,
  batch: { topic: string; partition: number },
  message: KafkaMessage,
): IncomingMessage {
  return {
    topic: batch.topic.slice(topicPrefix.length),
    partition: batch.partition,
    offset: BigInt(message.offset),
    key: message.key?.toString() ?? null,
    headers: toTextHeaders(message.headers ?? {}),
    value: message.value,
  };
}

/** Headers as text; a repeated header keeps its last value. */
export function toTextHeaders(headers: IHeaders): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (last !== undefined) texts[name] = last.toString();
  }
  return texts;
}
