import { build } from 'hdr-histogram-js';

export type LoadResult = {
  requests: number;
  errors: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
};

const MICROSECONDS_MAX = 60_000_000;

/**
 * Keeps `concurrency` calls under way for `seconds`. Right for comparing two servers' capacity in one run; it
 * says nothing about latency at a given arrival rate.
 */
export async function runClosedLoop(
  options: { concurrency: number; seconds: number },
  call: () => Promise<boolean>,
): Promise<LoadResult> {
  const histogram = build({
    highestTrackableValue: MICROSECONDS_MAX,
    numberOfSignificantValueDigits: 3,
  });
  const startedMs = performance.now();
  const endMs = startedMs + options.seconds * 1000;
  let errors = 0;
  await Promise.all(Array.from({ length: options.concurrency }, () => worker()));
  const seconds = (performance.now() - startedMs) / 1000;
  return {
    requests: histogram.totalCount,
    errors,
    perSecond: histogram.totalCount / seconds,
    p50Ms: histogram.getValueAtPercentile(50) / 1000,
    p99Ms: histogram.getValueAtPercentile(99) / 1000,
  };

  async function worker(): Promise<void> {
    while (performance.now() < endMs) {
      const beganMs = performance.now();
      if (!(await call())) errors += 1;
      histogram.recordValue(Math.max(1, Math.round((performance.now() - beganMs) * 1000)));
    }
  }
}
