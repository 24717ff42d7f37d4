import type { Logger } from '@pixmesh/telemetry/logger';
import { counter } from '@pixmesh/telemetry/metrics';
import { TOPIC_LABELS } from './topic-labels.ts';

/** A place that was refused is left alone for so long; each try of it costs the others some hundred milliseconds. */
const REST_MS = 2_000;

/** A topic, or one of its partitions. */
export type Place = { topic: string; partition: number | null };

/**
 * `resting`: refused a moment ago, itself or with its topic. `suspect`: refused, and not tried since. `trusted`: all others.
 */
export type Standing = 'trusted' | 'suspect' | 'resting';

export type RefusedPlaces = {
  standingOf(place: Place, nowMs: number): Standing;
  add(place: Place, error: unknown): void;
  /** It takes messages again. */
  remove(place: Place): void;
};

const refusals = counter(
  'kafka_publications_refused_total',
  'Publications that the broker refused',
  TOPIC_LABELS,
);

/** What the broker refuses at present, so that the rest is published without it. */
export function createRefusedPlaces(logger: Logger): RefusedPlaces {
  const restsUntilMs = new Map<string, number>();
  return {
    standingOf: ({ topic, partition }, nowMs) => {
      const names = [nameOf({ topic, partition: null }), nameOf({ topic, partition })];
      const untilMs = Math.max(...names.map((name) => restsUntilMs.get(name) ?? 0));
      if (untilMs === 0) return 'trusted';
      return untilMs > nowMs ? 'resting' : 'suspect';
    },
    add: (place, error) => {
      restsUntilMs.set(nameOf(place), performance.now() + REST_MS);
      refusals.add(1, { topic: place.topic });
      logger.error({ err: error, ...place }, 'publication refused by the broker');
    },
    remove: (place) => {
      restsUntilMs.delete(nameOf(place));
      restsUntilMs.delete(nameOf({ topic: place.topic, partition: null }));
    },
  };
}

function nameOf({ topic, partition }: Place): string {
  return partition === null ? topic : `${topic}/${partition}`;
}
