/** Attempts of one notice; with the default delays they span more than ten minutes. */
export const ATTEMPTS_MAX = 80;

/** The wait after a failed attempt (numbered from 1), growing and capped; null when it was the last. */
export function retryDelayMs(
  attempts: number,
  delays: { firstMs: number; maxMs: number },
): number | null {
  if (attempts >= ATTEMPTS_MAX) return null;
  return Math.min(delays.firstMs * 2 ** Math.min(attempts - 1, 30), delays.maxMs);
}
