import { setTimeout as delay } from 'node:timers/promises';

const POLL_INTERVAL_MS = { min: 25, max: 100 };
/** Of the time waited so far: a wait of seconds is longer by a tenth at most, and asks for less. */
const POLL_SHARE = 0.1;
/** After a probe that took long it rests for as long, up to this: a comparison of everything is work of its own. */
const REST_MS_MAX = 1_000;
/** What fails in the end takes that long to be red; what is only slow on a busy machine is not. */
const TIMEOUT_DEFAULT_MS = 15_000;

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
    const probedMs = performance.now();
    try {
      return await probe();
    } catch (error) {
      const nowMs = performance.now();
      const waitedMs = nowMs - begin;
      if (waitedMs >= timeoutMs) throw error;
      const { min, max } = POLL_INTERVAL_MS;
      const pauseMs = Math.min(max, Math.max(min, waitedMs * POLL_SHARE));
      await delay(Math.max(pauseMs, Math.min(nowMs - probedMs, REST_MS_MAX)));
    }
  }
}
