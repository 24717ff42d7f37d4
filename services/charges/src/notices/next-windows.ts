import type { ListCursor, ListRun } from './received-list.sql.ts';

/** Clocks differ, and a Pix of the future is money all the same: the fresh window is open towards it. */
const AHEAD_MS = 2 * 86_400_000;
/** Returns come within the 90 days of a refund (decision 76), and those under the MED not much later. */
const SWEEP_HORIZON_MS = 120 * 86_400_000;
const SWEEP_WIDTH_MS = 6 * 3_600_000;
/** Pages of older days in one run: they are not urgent. */
const SWEEP_PAGES = 2;

type TimeWindow = { from: Date; to: Date };

export type SweepState = {
  window: TimeWindow;
  page: number;
  pagesMax: number;
  /** Where the walk goes on after this window; null: from the present again. */
  next: Date | null;
};

/**
 * What a run reads: the rest of a window that was not finished, or everything since the last one, with an overlap for
 * what shows late; and a piece of the older days, walked backwards from the present, for returns that were not announced.
 */
export function nextWindows(
  cursor: Pick<ListCursor, 'listedUntil' | 'sweepFrom' | 'sweepPage' | 'unfinished' | 'readAt'>,
  { overlapMs }: { overlapMs: number },
): { fresh: ListRun; sweep: SweepState } {
  const nowMs = cursor.readAt.getTime();
  const freshFromMs = cursor.listedUntil.getTime() - overlapMs;
  const fresh = cursor.unfinished ?? {
    window: { from: new Date(freshFromMs), to: new Date(nowMs + AHEAD_MS) },
    readAt: cursor.readAt,
    page: 0,
  };
  const fromMs = cursor.sweepFrom?.getTime() ?? nowMs - SWEEP_WIDTH_MS;
  const isLast = fromMs - SWEEP_WIDTH_MS < nowMs - SWEEP_HORIZON_MS;
  const sweep = {
    window: { from: new Date(fromMs), to: new Date(fromMs + SWEEP_WIDTH_MS) },
    page: cursor.sweepPage,
    pagesMax: SWEEP_PAGES,
    next: isLast ? null : new Date(fromMs - SWEEP_WIDTH_MS),
  };
  return { fresh, sweep };
}
