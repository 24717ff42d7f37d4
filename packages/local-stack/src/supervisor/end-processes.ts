import { setTimeout as delay } from 'node:timers/promises';
import {
  findProcessesByEnvironment,
  isAlive,
  type ProcessIdentity,
  readProcessStart,
} from './process-identity.ts';

/** A process of the stack, as the guardian and the next start need it to end it. */
export interface StackProcess extends ProcessIdentity {
  name: string;
  stopSignal: NodeJS.Signals;
  /** Processes of a higher stage are ended first: services, then registry, Kafka, Redis, Postgres. */
  stage: number;
}

const POLL_INTERVAL_MS = 20;

/**
 * Ends what another run left: stage by stage, first the polite signal, then SIGKILL to the whole
 * group. Each process is checked by its start mark directly before each signal, so that a pid that
 * was given to another process is never touched.
 */
export async function endProcesses(
  processes: readonly StackProcess[],
  limitMs: number,
): Promise<void> {
  const stages = [...new Set(processes.map((one) => one.stage))].sort((a, b) => b - a);
  for (const stage of stages) {
    const members = processes.filter((one) => one.stage === stage);
    for (const one of members) signalProcess(one, one.stopSignal);
    await waitUntilGone(members, limitMs);
    for (const one of members) killGroup(one);
    await waitUntilGone(members, limitMs);
  }
}

/** Resolves when none of the processes is alive or the limit is over; true when all are gone. */
export async function waitUntilGone(
  processes: readonly ProcessIdentity[],
  limitMs: number,
): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (processes.some((one) => isAlive(one))) {
    if (performance.now() > deadline) return false;
    await delay(POLL_INTERVAL_MS);
  }
  return true;
}

/** Sends a signal to exactly this process; does nothing when it is gone. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  sendSignal(identity.pid, signal);
}

/** Kills a process and whatever else is in its group; every child of the stack leads its own group. */
export function killGroup(identity: ProcessIdentity): void {
  if (!isAlive(identity)) return;
  sendSignal(-identity.pid, 'SIGKILL');
  sendSignal(identity.pid, 'SIGKILL');
}

/** Kills whatever still carries the mark of a run in its environment, this process apart. */
export function killMarked(runMark: string): void {
  for (const pid of findProcessesByEnvironment(runMark)) {
    const startedAt = readProcessStart(pid);
    if (startedAt && pid !== process.pid) killGroup({ pid, startedAt });
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH: it ended in between, which is what was wanted.
  }
}
