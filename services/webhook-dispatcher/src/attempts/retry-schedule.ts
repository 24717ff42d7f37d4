const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Waits before the second and every further attempt, each counted from the failure before it: eight attempts
 * over 22 h 21 min (specification, Delivery and retry rules; decision 199).
 */
export const RETRY_DELAYS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
] as const;

export const ATTEMPTS_MAX = RETRY_DELAYS_MS.length + 1;

/**
 * The wait that follows the failure of attempt `number` (from 1); null after the last one. All failures are alike: 410
 * and 429 too (decision 200).
 */
export function retryDelayMs(number: number): number | null {
  return RETRY_DELAYS_MS[number - 1] ?? null;
}
