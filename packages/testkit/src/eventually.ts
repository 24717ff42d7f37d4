import { setTimeout as delay } from 'node:timers/promises';

const POLL_INTERVAL_MS = 25;
const TIMEOUT_DEFAULT_MS = 10_000;

/**
 * Repeats `probe` until it stops throwing, and answers its value; after the timeout its last error is thrown.
 * The only way a test waits.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  timeoutMs: number = TIMEOUT_DEFAULT_MS,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await probe();
    } catch (error) {
      if (performance.now() >= end) throw error;
      await delay(POLL_INTERVAL_MS);
    }
  }
}
