import { rmSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../progress.ts';
import { StartupFailure } from '../startup-failure.ts';
import { isAlive, ownIdentity, type ProcessIdentity } from '../supervisor/process-identity.ts';

const POLL_INTERVAL_MS = 200;
const LOCK_LIMIT_MS = 20 * 60_000;
/** A lock that cannot be read is being written right now; only an old one is broken. */
const UNREADABLE_TRIES_MAX = 25;

/**
 * Holds the cache's lock while `work` runs. Two stacks that start at once therefore download one
 * after the other, and the second finds the work done. The lock of a dead process is taken over.
 */
export async function withInstallLock(
  cache: string,
  log: Progress,
  work: () => Promise<void>,
): Promise<void> {
  const path = join(cache, 'install.lock');
  await takeLock(path, log);
  try {
    await work();
  } finally {
    rmSync(path, { force: true });
  }
}

async function takeLock(path: string, log: Progress): Promise<void> {
  const deadline = performance.now() + LOCK_LIMIT_MS;
  let announced = false;
  let unreadable = 0;
  while (!tryCreate(path)) {
    const holder = readHolder(path);
    unreadable = holder ? 0 : unreadable + 1;
    if ((holder && !isAlive(holder)) || unreadable > UNREADABLE_TRIES_MAX) {
      rmSync(path, { force: true });
      continue;
    }
    if (performance.now() > deadline) throw new StartupFailure(`${path} is held for too long`);
    if (!announced && holder)
      log.line(`another start (pid ${holder.pid}) is downloading; waiting for it`);
    announced = true;
    await delay(POLL_INTERVAL_MS);
  }
}

function tryCreate(path: string): boolean {
  try {
    writeFileSync(path, JSON.stringify(ownIdentity()), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(path: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity;
  } catch {
    return undefined;
  }
}
