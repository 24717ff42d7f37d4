import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/**
 * A pid alone may belong to another process by the time it is used, so every pid that is kept is kept
 * with the moment its process started. On Linux that is the boot's id and the start's clock tick.
 */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

const FIELDS_BEFORE_STATE = 2;
const START_TIME_FIELD = 22;

/** The start mark of a living process; undefined when it is gone or only waits to be reaped. */
export function readProcessStart(pid: number): string | undefined {
  return process.platform === 'linux' ? readLinuxStart(pid) : readPsStart(pid);
}

/** True while exactly this process, not another one with its pid, is alive. */
export function isAlive(identity: ProcessIdentity): boolean {
  return readProcessStart(identity.pid) === identity.startedAt;
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startedAt: readProcessStart(process.pid)! };
}

/** Parses `/proc/<pid>/stat`; the command's name may itself hold spaces and brackets. */
export function parseStat(stat: string): { state: string; startTicks: string } | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startTicks = fields[START_TIME_FIELD - FIELDS_BEFORE_STATE - 1];
  return state && startTicks ? { state, startTicks } : undefined;
}

/** Pids of all processes whose environment holds `NAME=value`, where the system tells (Linux). */
export function findProcessesByEnvironment(entry: string): number[] {
  return listPids().filter((pid) => readText(`/proc/${pid}/environ`)?.split('\0').includes(entry));
}

/** Pids of all processes, where the system lists them as files (Linux). */
export function listPids(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function readLinuxStart(pid: number): string | undefined {
  const stat = parseStat(readText(`/proc/${pid}/stat`) ?? '');
  if (!stat || stat.state === 'Z' || stat.state === 'X') return undefined;
  return `${readBootId()}:${stat.startTicks}`;
}

function readPsStart(pid: number): string | undefined {
  try {
    const output = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
    }).trim();
    return output === '' || output.startsWith('Z') ? undefined : output.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}

let bootId: string | undefined;

function readBootId(): string {
  bootId ??= (readText('/proc/sys/kernel/random/boot_id') ?? 'unknown-boot').trim();
  return bootId;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
