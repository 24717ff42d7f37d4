import type { ListReading } from './list-reading.ts';

/**
 * Acquirers show nearly everything within seconds, and clocks differ by less than this. Every run reads it again, so it
 * is what the reading of new items costs: at 10 s between two runs each item is read four times.
 */
const ORDINARY_OVERLAP_MS = 30_000;

export type FreshPeriods = {
  /** Between two ordinary runs. */
  intervalMs: number;
  /** Between two runs that look for what was shown late. */
  lateIntervalMs: number;
  /** How late the acquirer may show an item. */
  overlapMs: number;
};

/**
 * Two readings of what is new. The ordinary one, often and with a short overlap, finds what is shown in time. The one
 * named `….late`, rarely and with the whole overlap, finds what was shown late: each of its windows begins by the
 * overlap before its last run, so nothing within the overlap is missed, however rarely it runs (ADR 0045).
 */
export function freshReadings<Item>(
  { name, ...reading }: Omit<ListReading<Item>, 'windows' | 'intervalMs'>,
  { intervalMs, lateIntervalMs, overlapMs }: FreshPeriods,
): [ordinary: ListReading<Item>, late: ListReading<Item>] {
  const ordinaryOverlapMs = Math.min(ORDINARY_OVERLAP_MS, overlapMs);
  return [
    { ...reading, name, windows: { kind: 'fresh', overlapMs: ordinaryOverlapMs }, intervalMs },
    {
      ...reading,
      name: `${name}.late`,
      windows: { kind: 'fresh', overlapMs },
      intervalMs: lateIntervalMs,
    },
  ];
}
