import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryLockFile } from '../file-lock.ts';
import type { Progress } from '../progress.ts';
import { StartupFailure } from '../startup-failure.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';
import {
  endProcesses,
  killGroup,
  killMarked,
  type StackProcess,
  waitUntilGone,
} from './end-processes.ts';
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.ts';

/** What a run writes down about itself, so that the next one can clean up after a SIGKILL. */
export interface PidFile {
  supervisor: ProcessIdentity;
  guardian: ProcessIdentity | null;
  /** `NAME=value` found in the environment of every process of the run. */
  runMark: string;
  processes: StackProcess[];
}

/** How long the guardian of a dead run may take before its work is done for it. */
const GUARDIAN_LIMIT_MS = 15_000;
const END_LIMIT_MS = 5_000;

export function pidFilePath(home: string): string {
  return join(home, 'run', 'pids.json');
}

export function readPidFile(home: string): PidFile | undefined {
  const path = pidFilePath(home);
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PidFile;
  } catch {
    return undefined;
  }
}

/** The processes of a pid file that still are what they were when it was written. */
export function findLeftovers(file: PidFile): StackProcess[] {
  return file.processes.filter((one) => isAlive(one));
}

/**
 * Takes the home for this process: refuses while another supervisor has it, and cleans up what a
 * dead one left. Of two starts at once the second is refused.
 */
export async function takeHome(home: string, log: Progress, runMark: string): Promise<void> {
  mkdirSync(join(home, 'run'), { recursive: true });
  using lock = tryLockFile(join(home, 'run', 'start.lock'));
  if (!lock) throw new StartupFailure(`${home} is being taken by another start`);
  requireFreeHome(home);
  const previous = readPidFile(home);
  if (previous) await cleanUp(previous, log);
  writePidFile(home, { guardian: null, runMark, processes: [] });
}

/** The living supervisor that has the home, if there is one. */
export function findRunning(home: string): ProcessIdentity | undefined {
  const holder = readPidFile(home)?.supervisor;
  return holder && isAlive(holder) ? holder : undefined;
}

/** Refuses while a living supervisor has the home. */
export function requireFreeHome(home: string): void {
  const holder = findRunning(home);
  if (!holder) return;
  throw new StartupFailure(
    `a stack is already running in ${home} (supervisor pid ${holder.pid}); end it with: npm run stop`,
  );
}

/** Writes the present list; called after every start and end of a process. */
export function writePidFile(home: string, file: Omit<PidFile, 'supervisor'>): void {
  const own: PidFile = { supervisor: ownIdentity(), ...file };
  writeFileAtomically(pidFilePath(home), JSON.stringify(own, null, 2));
}

/** Ends what a dead run left behind; touches only processes that provably belong to it. */
export async function cleanUp(previous: PidFile, log: Progress): Promise<void> {
  if (previous.guardian && isAlive(previous.guardian)) {
    log.line('a previous run was killed; waiting until its guardian has ended its processes');
    await waitUntilGone([previous.guardian], GUARDIAN_LIMIT_MS);
    killGroup(previous.guardian);
  }
  const leftovers = findLeftovers(previous);
  if (leftovers.length > 0) {
    log.line(`ending what a killed run left: ${leftovers.map((one) => one.name).join(', ')}`);
    await endProcesses(leftovers, END_LIMIT_MS);
  }
  killMarked(previous.runMark);
}
