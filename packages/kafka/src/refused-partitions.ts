import type { Logger } from '@pixmesh/telemetry/logger';
import { counter } from '@pixmesh/telemetry/metrics';

import { TOPIC_LABELS } from './topic-labels.ts';

/** What was refused is left alone for so long; each try of it costs the others some hundred milliseconds. */
const REST_MS = 2_000;

/** A topic, or one of its partitions. */
export type TopicPartition = { topic: string; partition: number | null };

/**
 * `resting`: refused a moment ago, itself or with its topic. `suspect`: refused, and not tried since. `trusted`: all
 * others.
 */
export type RefusalState = 'trusted' | 'suspect' | 'resting';

export type RefusedPartitions = {
  stateOf(topicPartition: TopicPartition, nowMs: number): RefusalState;
  add(topicPartition: TopicPartition, error: unknown): void;
  /** It takes messages again. */
  remove(topicPartition: TopicPartition): void;
};

const refusals = counter(
  'kafka_publications_refused_total',
  'Publications that the broker refused',
  TOPIC_LABELS,
);

/** What the broker refuses at present, so that the rest is published without it. */
export function createRefusedPartitions({
  logger,
  topicPrefix,
}: {
  logger: Logger;
  topicPrefix: string;
}): RefusedPartitions {
  const restsUntilMs = new Map<string, number>();
  return {
    stateOf: ({ topic, partition }, nowMs) => {
      const names = [nameOf({ topic, partition: null }), nameOf({ topic, partition })];
      const untilMs = Math.max(...names.map((name) => restsUntilMs.get(name) ?? 0));
      if (untilMs === 0) return 'trusted';
      return untilMs > nowMs ? 'resting' : 'suspect';
    },
    add: (topicPartition, error) => {
      restsUntilMs.set(nameOf(topicPartition), performance.now() + REST_MS);
      refusals.add(1, { topic: topicPartition.topic.slice(topicPrefix.length) });
      logger.error({ err: error, ...topicPartition }, 'publication refused by the broker');
    },
    remove: (topicPartition) => {
      restsUntilMs.delete(nameOf(topicPartition));
      restsUntilMs.delete(nameOf({ topic: topicPartition.topic, partition: null }));
    },
  };
}

function nameOf({ topic, partition }: TopicPartition): string {
  return partition === null ? topic : `${topic}/${partition}`;
}
