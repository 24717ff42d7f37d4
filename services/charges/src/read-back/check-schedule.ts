const FIRST_DELAY_MS = 1_000;
/** Spreads looks that were scheduled together. */
const JITTER_RATIO = 0.1;

/** Milliseconds until the next routine look: growing, capped, with jitter; tries are not limited. */
export function nextCheckMs(
  checksSoFar: number,
  maxMs: number,
  random: () => number = Math.random,
): number {
  const growing = Math.min(FIRST_DELAY_MS * 2 ** Math.min(checksSoFar, 20), maxMs);
  return Math.round(growing * (1 - JITTER_RATIO * random()));
}
