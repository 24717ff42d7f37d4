import { setTimeout as delay } from 'node:timers/promises';

const POLL_INTERVAL_MS = { min: 25, max: 100 };
/** Of the time waited so far: a wait of seconds is longer by a tenth at most, and asks for less. */
const POLL_SHARE = 0.1;
const TIMEOUT_DEFAULT_MS = 10_000;

/**
 * Repeats `probe` until it stops throwing, and answers its value; after the timeout its last error is thrown.
 * The only way a test waits.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  timeoutMs: number = TIMEOUT_DEFAULT_MS,
): Promise<T> {
  const begin = performance.now();
  for (;;) {
    try {
      return await probe();
    } catch (error) {
      const waitedMs = performance.now() - begin;
      if (waitedMs >= timeoutMs) throw error;
      const { min, max } = POLL_INTERVAL_MS;
      await delay(Math.min(max, Math.max(min, waitedMs * POLL_SHARE)));
    }
  }
}
