import { existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { killGroup, signalProcess, waitUntilGone } from '../supervisor/end-processes.ts';
import {
  listPids,
  type ProcessIdentity,
  readProcessStart,
} from '../supervisor/process-identity.ts';

/** Backends notice a dead postmaster at their next wait; a busy one is told. */
const OWN_EXIT_LIMIT_MS = 100;
const QUIT_LIMIT_MS = 300;
const KILL_LIMIT_MS = 2_000;

/**
 * Makes a data folder startable after a kill -9 of the postmaster: its backends must be gone, because
 * a new postmaster refuses while they share the old memory; and the pid file of a dead one must not
 * be mistaken for a living one that happens to have its pid.
 */
export async function clearPostgresLeftovers(dataFolder: string): Promise<void> {
  const orphans = findProcessesIn(dataFolder);
  if (!(await waitUntilGone(orphans, OWN_EXIT_LIMIT_MS))) {
    for (const one of orphans) signalProcess(one, 'SIGQUIT');
    if (!(await waitUntilGone(orphans, QUIT_LIMIT_MS))) for (const one of orphans) killGroup(one);
    await waitUntilGone(orphans, KILL_LIMIT_MS);
  }
  removeStalePidFile(dataFolder);
}

/** First line of `postmaster.pid`, which the postmaster itself writes. */
export function readPostmasterPid(dataFolder: string): number | undefined {
  const path = join(dataFolder, 'postmaster.pid');
  if (!existsSync(path)) return undefined;
  const pid = Number(readFileSync(path, 'utf8').split('\n')[0]);
  return Number.isInteger(pid) ? pid : undefined;
}

function removeStalePidFile(dataFolder: string): void {
  const pid = readPostmasterPid(dataFolder);
  if (pid === undefined) return;
  const alive = readProcessStart(pid) !== undefined;
  // On Linux the folder a process works in tells whether a living pid is a postmaster of this folder.
  const isOurs = process.platform === 'linux' ? workingFolder(pid) === dataFolder : alive;
  if (!alive || !isOurs) rmSync(join(dataFolder, 'postmaster.pid'), { force: true });
}

/** Every Postgres process works in its data folder. Known on Linux only; elsewhere the list is empty. */
function findProcessesIn(dataFolder: string): ProcessIdentity[] {
  return listPids().flatMap((pid) => {
    const startedAt = workingFolder(pid) === dataFolder ? readProcessStart(pid) : undefined;
    return startedAt ? [{ pid, startedAt }] : [];
  });
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}
