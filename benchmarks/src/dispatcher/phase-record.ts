import { build } from 'hdr-histogram-js';

import type { EventMark } from './event-mark.ts';

const MICROSECONDS_MAX = 600_000_000;

/** What the receivers saw of one phase so far. Hanging endpoints are counted apart. */
export type PhaseFigure = {
  /** Events that arrived, each counted once. */
  delivered: number;
  duplicates: number;
  /** Requests of hanging endpoints. */
  hung: number;
  /** Requests whose signature was wrong, of those that were checked. */
  forged: number;
  bodyBytes: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  maxMs: number;
};

/** Which events were sent, so that what is missing can be told. */
export type SentEvents = {
  sent: number;
  /** When the first was meant to be published, and how far apart they were; null where there was no schedule. */
  schedule: { startMs: number; perItemMs: number } | null;
  /** Every so many-th endpoint hangs; 0 for none. */
  hangingEvery: number;
};

/** Numbers and latencies of the events of one phase, as they arrive. */
export function createPhaseRecord() {
  const histogram = build({
    highestTrackableValue: MICROSECONDS_MAX,
    numberOfSignificantValueDigits: 3,
  });
  const seen = new Set<number>();
  const counts = { duplicates: 0, hung: 0, forged: 0, bodyBytes: 0 };
  return { counts, arrived, countArrived: () => seen.size, figure, countMissing };

  function arrived({ number, intendedMs }: EventMark, nowMs: number): void {
    if (seen.has(number)) {
      counts.duplicates += 1;
      return;
    }
    seen.add(number);
    record(nowMs - intendedMs);
  }

  /** What never came counts with its age until now: a stall must not look better for not having ended. */
  function countMissing({ sent, schedule, hangingEvery }: SentEvents, nowMs: number): number {
    let missing = 0;
    for (let number = 0; number < sent; number += 1) {
      const isHanging = hangingEvery > 0 && number % hangingEvery === 0;
      if (isHanging || seen.has(number)) continue;
      missing += 1;
      if (schedule) record(nowMs - (schedule.startMs + number * schedule.perItemMs));
    }
    return missing;
  }

  function record(latencyMs: number): void {
    histogram.recordValue(Math.max(1, Math.round(latencyMs * 1000)));
  }

  function figure(): PhaseFigure {
    const at = (percentile: number) => histogram.getValueAtPercentile(percentile) / 1000;
    return {
      delivered: seen.size,
      ...counts,
      p50Ms: at(50),
      p95Ms: at(95),
      p99Ms: at(99),
      maxMs: histogram.maxValue / 1000,
    };
  }
}
