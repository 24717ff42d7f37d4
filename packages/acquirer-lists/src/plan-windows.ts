import type { ListReading, Windows } from './list-reading.ts';

/** Clocks differ, and an item of the future is money all the same: the newest window is open towards it. */
const AHEAD_MS = 2 * 86_400_000;
/** A walk reads no less at once: most windows have one page. */
const WIDTH_MS_MIN = 6 * 3_600_000;

/** A window whose ends stay the same until all of its pages are read, however many runs that takes. */
export type ListRun = {
  window: { from: Date; to: Date };
  /** When the reading began that the window is a part of. */
  beganAt: Date;
  page: number;
};

type Progress = {
  /** Whatever was shown before has been compared. */
  listedUntil: Date;
  /** The window in work; null: a reading begins. */
  run: ListRun | null;
};

/**
 * What a run reads: the rest of its window, or the first one of a new reading. One that began in the future begins anew:
 * its window may leave out what is new.
 */
export function nextRun(
  { windows, intervalMs }: Pick<ListReading<unknown>, 'windows' | 'intervalMs'>,
  cursor: Progress & { readAt: Date },
): ListRun {
  const { readAt: beganAt, listedUntil, run } = cursor;
  if (run !== null && run.beganAt <= beganAt) return run;
  const fromMs =
    windows.kind === 'fresh'
      ? listedUntil.getTime() - windows.overlapMs
      : beganAt.getTime() - widthOf(windows, intervalMs);
  const to = new Date(beganAt.getTime() + AHEAD_MS);
  return { window: { from: new Date(fromMs), to }, beganAt, page: 0 };
}

/** Where the reading stands when the last page of a window has been compared. */
export function afterWindow(
  { windows, intervalMs }: Pick<ListReading<unknown>, 'windows' | 'intervalMs'>,
  progress: Progress & { run: ListRun },
): Progress {
  const { beganAt, window } = progress.run;
  const isEnd =
    windows.kind === 'fresh' || window.from.getTime() <= beganAt.getTime() - windows.horizonMs;
  if (isEnd) return { listedUntil: beganAt, run: null };
  const to = window.from;
  const from = new Date(to.getTime() - widthOf(windows, intervalMs));
  return { listedUntil: progress.listedUntil, run: { window: { from, to }, beganAt, page: 0 } };
}

/** So wide that the runs of one round reach the horizon. */
function widthOf({ horizonMs, roundMs }: Extract<Windows, { kind: 'walk' }>, intervalMs: number) {
  const widthMs = Math.max(WIDTH_MS_MIN, Math.ceil((horizonMs * intervalMs) / roundMs));
  return Math.min(widthMs, horizonMs);
}
