import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { tryLockFile } from '../file-lock.ts';
import type { Progress } from '../progress.ts';
import { StartupFailure } from '../startup-failure.ts';

const POLL_INTERVAL_MS = 200;
const LOCK_LIMIT_MS = 20 * 60_000;

/**
 * Holds the cache's lock while `work` runs. Two stacks that start at once therefore download one
 * after the other, and the second finds the work done.
 */
export async function withInstallLock(
  cache: string,
  log: Progress,
  work: () => Promise<void>,
): Promise<void> {
  using _lock = await takeLock(join(cache, 'downloads.lock'), log);
  await work();
}

async function takeLock(path: string, log: Progress): Promise<Disposable> {
  const deadline = performance.now() + LOCK_LIMIT_MS;
  let lock = tryLockFile(path);
  if (!lock) log.line('another start is downloading; waiting for it');
  while (!lock) {
    if (performance.now() > deadline) throw new StartupFailure(`${path} is held for too long`);
    await delay(POLL_INTERVAL_MS);
    lock = tryLockFile(path);
  }
  return lock;
}
