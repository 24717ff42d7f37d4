import { collectDefaultMetrics, Registry } from 'prom-client';

/**
 * How often the event loop's delay is sampled. Each sample wakes the process, so few of them: a delay below a tenth of
 * a second is not seen, and what is read is the sample's own length and the delay behind it.
 */
const LOOP_SAMPLE_MS = 100;
/** Seconds of garbage collections that hold up the process. */
const GC_BUCKETS = [0.001, 0.01, 0.1, 1];

/**
 * `process_*` and `nodejs_*` under the names that dashboards of the field know: CPU, memory, start, files, the event
 * loop's delay, garbage collection. Read at each scrape; nothing polls.
 */
export function startProcessMetrics(): { render(): Promise<string> } {
  const registry = new Registry();
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: LOOP_SAMPLE_MS,
    gcDurationBuckets: GC_BUCKETS,
  });
  return { render: () => registry.metrics() };
}
