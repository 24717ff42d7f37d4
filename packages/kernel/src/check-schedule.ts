/** How far apart looks at the acquirer are: the first distance, and the longest. */
export type CheckPeriods = { firstMs: number; maxMs: number };

/** Spreads looks that were scheduled together. */
const JITTER_RATIO = 0.1;
const DOUBLINGS_MAX = 20;

/** Milliseconds until the next routine look: doubling, capped, with jitter; tries are not limited. */
export function nextCheckMs(
  checksSoFar: number,
  periods: CheckPeriods,
  random: () => number = Math.random,
): number {
  const doubled = periods.firstMs * 2 ** Math.min(checksSoFar, DOUBLINGS_MAX);
  return Math.round(Math.min(doubled, periods.maxMs) * (1 - JITTER_RATIO * random()));
}
