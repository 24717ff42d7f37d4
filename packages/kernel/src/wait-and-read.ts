import { setImmediate, setTimeout as delay } from 'node:timers/promises';

/**
 * Waits `ms`, and until sockets have been read after it: for deadlines of answers. Where this process had no turn for
 * so long, because it was frozen or busy, its timers run first, though the answer may have come long ago. So the time
 * passes in two halves, with a look at the sockets after each.
 *
 * @returns false where the signal was aborted before
 */
export async function waitAndRead(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    for (const part of [ms / 2, ms / 2]) await delay(part, undefined, { signal });
    await setImmediate(undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
