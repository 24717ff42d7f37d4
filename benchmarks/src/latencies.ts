import { build } from 'hdr-histogram-js';

export type LatencyFigure = { p50Ms: number; p95Ms: number; p99Ms: number; maxMs: number };

const MICROSECONDS_MAX = 600_000_000;

/** An HDR histogram of milliseconds, to the microsecond. */
export function createLatencies() {
  const histogram = build({
    highestTrackableValue: MICROSECONDS_MAX,
    numberOfSignificantValueDigits: 3,
  });
  const at = (percentile: number) => histogram.getValueAtPercentile(percentile) / 1000;
  return {
    record: (ms: number) => histogram.recordValue(Math.max(1, Math.round(ms * 1000))),
    figure: (): LatencyFigure => ({
      p50Ms: at(50),
      p95Ms: at(95),
      p99Ms: at(99),
      maxMs: histogram.maxValue / 1000,
    }),
  };
}

export function describeLatencies({ p50Ms, p95Ms, p99Ms, maxMs }: LatencyFigure): string {
  return `p50 ${p50Ms.toFixed(1)}  p95 ${p95Ms.toFixed(1)}  p99 ${p99Ms.toFixed(1)}  max ${maxMs.toFixed(0)} ms`;
}
