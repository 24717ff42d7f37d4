import { setTimeout as delay } from 'node:timers/promises';

import type { Topic } from '@pixmesh/contracts/topics';
import { within } from '@pixmesh/kernel/within';
import type { Consumer, EachBatchPayload } from 'kafkajs';

import { handleBatch } from './handle-batch.ts';
import type { HandleMessageDeps } from './handle-message.ts';
import { CLIENT_RETRY, createKafka, type KafkaOptions } from './kafka-client.ts';
import { isRefusedAccess } from './refused-access.ts';
import { createOffsetCommitter, type OffsetCommitter } from './offset-committer.ts';
import { watchActivity } from './watch-activity.ts';

/** After so long without a heartbeat the broker gives the partitions of a member to the others. */
const SESSION_TIMEOUT_MS = 6_000;
/**
 * A new generation of a group waits for its leader until the leader's session ends, when it was killed. A member that
 * gave up before would join as another one and leave a dead member behind, perhaps the next leader: for minutes.
 */
const REQUEST_TIMEOUT_MS = SESSION_TIMEOUT_MS + 2_000;
const REBALANCE_TIMEOUT_MS = 10_000;
/**
 * A member that leaves waits for its fetch, and the others learn of it by the heartbeat after one of theirs. Both are
 * the longest part of the pause in which nothing of the group is handled.
 */
const TIMES = { heartbeatInterval: 1_000, maxWaitTimeInMs: 500 };
/** A heartbeat follows each fetch. An idle group costs twice the fetches. */
const SHORT_TIMES = { heartbeatInterval: 200, maxWaitTimeInMs: 250 };
const MAX_BYTES_PER_PARTITION = 128 * 1024;
/** All partitions of a topic at once: a fetch waits for the batches of the one before. */
const PARTITIONS_AT_ONCE_PER_TOPIC = 12;
const RECONNECT_DELAY_MS = 1_000;
/** Between two tries of a consumer that the broker refuses. */
const RIGHTS_DELAY_MS = 5_000;
/** A broker that is away must not hold up the end of the process. */
const STOP_TIMEOUT_MS = 5_000;

type ConsumerOptions = KafkaOptions &
  HandleMessageDeps & {
    groupId: string;
    topics: readonly Topic[];
    topicPrefix: string;
    /** Messages of one partition in hand at once; one where it is absent. */
    concurrency?: { max: number };
    /** A process that comes or goes interrupts the group for a shorter time. */
    shortPauses?: boolean;
    /** Called when the library has given up for good: the process must end and be started again. */
    onFatal(error: Error): void;
  };

export type RunningConsumer = {
  /** False once the consumer has shown no activity for longer than any wait it is allowed. */
  isAlive(): boolean;
  /** Finishes messages in hand, commits, leaves the group. */
  stop(): Promise<void>;
};

/**
 * Runs handlers over topics, at least once and in order per key. A handler's failure never reaches the
 * library: what is wrong in itself is parked and the partition moves on; while a database or peer is away
 * the partition is paused and nothing is parked.
 */
export function startConsumer(options: ConsumerOptions): RunningConsumer {
  const stopping = new AbortController();
  const activity = watchActivity();
  const inHand = new Set<Promise<void>>();
  let leave = async (): Promise<void> => undefined;
  let connecting = connect();
  return {
    isAlive: activity.isAlive,
    stop: async () => {
      stopping.abort();
      await within(STOP_TIMEOUT_MS, leave(), undefined);
    },
  };

  /** The broker may be away while a service starts; its HTTP routes do not wait for it. */
  async function connect(): Promise<void> {
    for (let tries = 1; !stopping.signal.aborted; tries += 1) {
      const consumer = createGroupConsumer(options);
      try {
        await consumer.connect();
        await consumer.subscribe({ topics: prefixedTopics(options), fromBeginning: true });
        if (stopping.signal.aborted) return await consumer.disconnect();
        return await run(consumer);
      } catch (error) {
        activity.touch();
        if (tries === 1) logUnconnected(options, error);
        await consumer.disconnect().catch(() => undefined);
        await rest(RECONNECT_DELAY_MS, stopping.signal);
      }
    }
  }

  /** From here on the library reconnects by itself, or reports that it has given up. */
  async function run(consumer: Consumer): Promise<void> {
    const offsets = createOffsetCommitter(consumer, options);
    activity.watch(consumer, (error) => {
      if (!isRefusedAccess(error)) return options.onFatal(error);
      logUnconnected(options, error);
      connecting = waitForRights(offsets);
    });
    leave = async () => {
      await connecting;
      // Offsets can be committed by a running member only, so the batches in hand end first.
      await Promise.allSettled(inHand);
      await offsets.stop();
      await consumer.disconnect().catch(() => undefined);
    };
    const deps = { ...options, offsets, stopping: stopping.signal, waiting: new Set<string>() };
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: PARTITIONS_AT_ONCE_PER_TOPIC * options.topics.length,
      eachBatch: (payload: EachBatchPayload) => keepInHand(handleBatch(deps, payload)),
    });
  }

  /** No restart of the process would give it one. */
  async function waitForRights(offsets: OffsetCommitter): Promise<void> {
    await offsets.stop();
    await rest(RIGHTS_DELAY_MS, stopping.signal);
    await connect();
  }

  async function keepInHand(batch: Promise<void>): Promise<void> {
    inHand.add(batch);
    try {
      await batch;
    } finally {
      inHand.delete(batch);
    }
  }
}

/** A right that is missing is an error of the installation, a broker that is away is waited for. */
function logUnconnected({ groupId, logger }: ConsumerOptions, error: unknown): void {
  if (isRefusedAccess(error)) {
    logger.error(
      { err: error, group_id: groupId },
      'consumer refused by the broker, waiting for its rights',
    );
  } else {
    logger.warn({ err: error, group_id: groupId }, 'consumer not connected: broker unavailable');
  }
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

function prefixedTopics(options: ConsumerOptions): string[] {
  return options.topics.map((topic) => options.topicPrefix + topic);
}

function createGroupConsumer(options: ConsumerOptions): Consumer {
  return createKafka(options, REQUEST_TIMEOUT_MS).consumer({
    groupId: options.topicPrefix + options.groupId,
    sessionTimeout: SESSION_TIMEOUT_MS,
    ...(options.shortPauses ? SHORT_TIMES : TIMES),
    rebalanceTimeout: REBALANCE_TIMEOUT_MS,
    minBytes: 1,
    maxBytesPerPartition: MAX_BYTES_PER_PARTITION,
    allowAutoTopicCreation: false,
    retry: CLIENT_RETRY,
  });
}
