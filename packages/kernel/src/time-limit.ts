import { setImmediate, setTimeout as delay } from 'node:timers/promises';

/**
 * Waits `ms`, and until sockets have been read after it: for deadlines of answers. Where this process had no turn for
 * so long, because it was frozen or busy, its timers run first, though the answer may have come long ago. So the time
 * passes in two parts, with a look at the sockets after each. The second is what is left: nothing new begins late.
 *
 * @returns false where the signal was aborted before
 */
export async function waitAndRead(ms: number, signal: AbortSignal): Promise<boolean> {
  const endMs = performance.now() + ms;
  try {
    await delay(ms / 2, undefined, { signal });
    await delay(Math.max(1, endMs - performance.now()), undefined, { signal });
    await setImmediate(undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
