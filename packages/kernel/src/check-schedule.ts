/** How far apart status checks are: the first distance, and the longest. */
export type CheckPeriods = { firstMs: number; maxMs: number };

/** Spreads status checks that were scheduled together. */
const JITTER_RATIO = 0.1;
const DOUBLINGS_MAX = 20;

/** Milliseconds until the next routine status check: doubling, capped, with jitter; tries are not limited. */
export function nextCheckMs(
  checksSoFar: number,
  periods: CheckPeriods,
  random: () => number = Math.random,
): number {
  const doubled = periods.firstMs * 2 ** Math.min(checksSoFar, DOUBLINGS_MAX);
  return Math.round(Math.min(doubled, periods.maxMs) * (1 - JITTER_RATIO * random()));
}
