import { createLatencies, type LatencyFigure } from '../latencies.ts';
import type { EventMark } from './event-mark.ts';

/** What the receivers saw of one phase so far. Hanging endpoints are counted apart. */
export type PhaseFigure = LatencyFigure & {
  /** Events that arrived, each counted once. */
  delivered: number;
  duplicates: number;
  /** Requests of hanging endpoints. */
  hung: number;
  /** Requests whose signature was wrong, of those that were checked. */
  forged: number;
  bodyBytes: number;
};

/** Which events were sent, so that what is missing can be named. */
export type SentEvents = {
  sent: number;
  /** When the first was meant to be published, and how far apart they were; null where there was no schedule. */
  schedule: { startMs: number; perItemMs: number } | null;
  /** Every so many-th endpoint hangs; 0 for none. */
  hangingEvery: number;
};

/** Numbers and latencies of the events of one phase, as they arrive. */
export function createPhaseRecord() {
  const latencies = createLatencies();
  const seen = new Set<number>();
  const counts = { duplicates: 0, hung: 0, forged: 0, bodyBytes: 0 };
  return { counts, arrived, countArrived: () => seen.size, figure, countMissing };

  function arrived({ number, intendedMs }: EventMark, nowMs: number): void {
    if (seen.has(number)) {
      counts.duplicates += 1;
      return;
    }
    seen.add(number);
    latencies.record(nowMs - intendedMs);
  }

  /** What never came counts with its age until now: a stall must not look better for not having ended. */
  function countMissing({ sent, schedule, hangingEvery }: SentEvents, nowMs: number): number {
    let missing = 0;
    for (let number = 0; number < sent; number += 1) {
      const isHanging = hangingEvery > 0 && number % hangingEvery === 0;
      if (isHanging || seen.has(number)) continue;
      missing += 1;
      if (schedule) latencies.record(nowMs - (schedule.startMs + number * schedule.perItemMs));
    }
    return missing;
  }

  function figure(): PhaseFigure {
    return { delivered: seen.size, ...counts, ...latencies.figure() };
  }
}
