import type { Logger } from '@pixmesh/telemetry/logger';
import { counter } from '@pixmesh/telemetry/metrics';

/** A place that was refused is left alone for so long; each try of it costs the others some hundred milliseconds. */
const REST_MS = 2_000;

/** A topic, or one of its partitions. */
export type Place = { topic: string; partition: number | null };

export type RefusedPlaces = {
  /** Whether it was refused a moment ago, or its whole topic was. */
  isResting(place: Place): boolean;
  add(place: Place, error: unknown): void;
};

const refusals = counter(
  'kafka_publications_refused_total',
  'Publications that the broker refused',
);

/** What the broker refuses at present, so that the rest is published without it. */
export function createRefusedPlaces(logger: Logger): RefusedPlaces {
  const restsUntilMs = new Map<string, number>();
  return {
    isResting: ({ topic, partition }) =>
      isResting(nameOf({ topic, partition: null })) || isResting(nameOf({ topic, partition })),
    add: (place, error) => {
      restsUntilMs.set(nameOf(place), performance.now() + REST_MS);
      refusals.add(1, { topic: place.topic });
      logger.error({ err: error, ...place }, 'publication refused by the broker');
    },
  };

  function isResting(name: string): boolean {
    return (restsUntilMs.get(name) ?? 0) > performance.now();
  }
}

function nameOf({ topic, partition }: Place): string {
  return partition === null ? topic : `${topic}/${partition}`;
}
