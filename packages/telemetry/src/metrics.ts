import { type Attributes, type Counter, type Histogram, metrics } from '@opentelemetry/api';

/** Upper bounds, in seconds, that separate a healthy latency from each of our objectives. */
const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];

/** A counter without labels. */
const UNLABELLED: readonly Attributes[] = [{}];

/**
 * A monotonic counter. Labels are bounded sets: never ids, URLs or keys. It is there from the start, with 0, so that an
 * alert sees the first: of a counter with labels `known` says with which; those that are not listed begin at their
 * first.
 */
export function counter(
  name: string,
  description: string,
  known: readonly Attributes[] = UNLABELLED,
): Counter {
  const made = metrics.getMeter('pixmesh').createCounter(name, { description });
  for (const labels of known) made.add(0, labels);
  return made;
}

/** A histogram of durations in seconds. */
export function durationHistogram(name: string, description: string): Histogram {
  return metrics.getMeter('pixmesh').createHistogram(name, {
    description,
    unit: 's',
    advice: { explicitBucketBoundaries: SECONDS_BUCKETS },
  });
}

/** What several gauges of one scrape read: asked once in `ms`. */
export function sharedFor<Answer>(ms: number, read: () => Promise<Answer>): () => Promise<Answer> {
  let kept: { answer: Promise<Answer>; untilMs: number } | null = null;
  return async () => {
    const nowMs = performance.now();
    if (kept === null || nowMs > kept.untilMs) kept = { answer: read(), untilMs: nowMs + ms };
    return await kept.answer;
  };
}

/** What the callbacks of each gauge have read at this scrape, by labels. */
const readings = new Map<string, Set<string>[]>();

/** A value read at each scrape; a failing reader leaves the gauge out of that scrape. */
export function observedGauge(
  name: string,
  description: string,
  read: () => Promise<readonly { value: number; attributes?: Attributes }[]>,
): void {
  const gauge = metrics.getMeter('pixmesh').createObservableGauge(name, { description });
  const labels = new Set<string>();
  readings.set(name, [...(readings.get(name) ?? []), labels]);
  let reads = 0;
  gauge.addCallback(async (result) => {
    labels.clear();
    reads += 1;
    const ofThis = reads;
    const values = await read().catch(() => []);
    // One that has taken too long is of an earlier scrape.
    if (ofThis !== reads) return;
    for (const { value, attributes } of values) {
      result.observe(value, attributes);
      labels.add(keyOf(attributes));
    }
  });
}

/**
 * Whether a gauge has a value with these labels at this scrape. The SDK keeps one that is no longer read with its last
 * value, for as long as the process lives: an alert on it would never end.
 */
export function isRead(name: string, attributes: Attributes): boolean {
  const key = keyOf(attributes);
  return readings.get(name)?.some((labels) => labels.has(key)) ?? true;
}

function keyOf(attributes: Attributes = {}): string {
  const pairs = Object.entries(attributes).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(pairs);
}
