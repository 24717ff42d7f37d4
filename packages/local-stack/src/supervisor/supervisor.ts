import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../progress.ts';
import { StartupFailure } from '../startup-failure.ts';
import { startProcess } from './child-process.ts';
import type { StartedProcess } from './child-process.ts';
import { STAGES } from './child-spec.ts';
import type { ChildSpec } from './child-spec.ts';
import { startGuardian } from './guardian.ts';
import { createLogFile } from './log-file.ts';
import { pidFilePath, takeHome, writePidFile } from './pid-file.ts';
import { readProcessStart } from './process-identity.ts';
import { SupervisedChild } from './supervised-child.ts';
import type { StackProcess } from './end-processes.ts';

/** A process that is run once, to its end. */
export interface JobSpec {
  name: string;
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  owner?: { uid: number; gid: number } | undefined;
  limitMs: number;
}

export interface Supervisor {
  home: string;
  /** Resolves when the process is ready; from then on it is kept running. */
  start(spec: ChildSpec): Promise<void>;
  /** Runs a job to its end; anything but exit code 0 is a failure with its last log lines. */
  run(spec: JobSpec): Promise<void>;
  restart(name: string): Promise<void>;
  names(): string[];
  /** Living processes by name. */
  pids(): Record<string, number>;
  /** Called after every start and death of a process. */
  onChange(listener: () => void): void;
  stop(options?: { fast?: boolean }): Promise<void>;
}

const JOB_LOG_LINES = 15;
const JOB_STOP_LIMIT_MS = 2_000;
/** How long each process gets when the person at the terminal asked twice. */
const FAST_STOP_LIMIT_MS = 200;
const RUN_MARK_NAME = 'PIXMESH_STACK_RUN';

/** Takes the home, starts the guardian, and from then on owns every process of one stack. */
export async function createSupervisor(input: {
  home: string;
  log: Progress;
}): Promise<Supervisor> {
  const { home, log } = input;
  mkdirSync(home, { recursive: true });
  const runId = randomUUID();
  const runMark = `${RUN_MARK_NAME}=${runId}`;
  await takeHome(home, log, runMark);
  const children = new Map<string, SupervisedChild>();
  const jobs = new Set<StartedProcess>();
  const registered = new Map<number, StackProcess>();
  const listeners: (() => void)[] = [];
  let stopping: Promise<void> | undefined;
  let fast = false;
  const guardian = startGuardian({
    home,
    runMark,
    filesToRemove: [pidFilePath(home), join(home, 'stack.json')],
    onReplaced: write,
  });
  write();

  function write(): void {
    const pid = guardian.pid();
    const identity = { pid, startedAt: readProcessStart(pid) ?? 'ended' };
    writePidFile(home, { guardian: identity, runMark, processes: [...registered.values()] });
    for (const listener of listeners) listener();
  }

  function register(name: string, options: Pick<ChildSpec, 'stage' | 'stopSignal'>) {
    return {
      onStarted(started: StartedProcess) {
        const one = { ...started.identity, name, ...options };
        registered.set(one.pid, one);
        guardian.started(one);
        write();
      },
      onEnded(started: StartedProcess) {
        registered.delete(started.identity.pid);
        guardian.ended(started.identity.pid);
        if (!stopping) write();
      },
    };
  }

  async function start(spec: ChildSpec): Promise<void> {
    if (stopping) throw new StartupFailure('the stack is being stopped');
    const env = { ...spec.env, [RUN_MARK_NAME]: runId };
    const { stage, stopSignal } = spec;
    const hooks = register(spec.name, { stage, stopSignal });
    const child = new SupervisedChild({ ...spec, env }, { home, log, ...hooks });
    children.set(spec.name, child);
    await child.start();
  }

  async function run(spec: JobSpec): Promise<void> {
    if (stopping) throw new StartupFailure('the stack is being stopped');
    const logFile = createLogFile(home, spec.name);
    const hooks = register(spec.name, { stage: STAGES.job, stopSignal: 'SIGTERM' });
    const env = { ...spec.env, [RUN_MARK_NAME]: runId };
    const job = await startProcess({ ...spec, env, log: logFile });
    jobs.add(job);
    hooks.onStarted(job);
    const timer = setTimeout(() => void job.end('SIGTERM', JOB_STOP_LIMIT_MS), spec.limitMs);
    const exit = await job.exited;
    clearTimeout(timer);
    jobs.delete(job);
    hooks.onEnded(job);
    if (exit.code === 0) return;
    const how = exit.signal ? `was ended by ${exit.signal}` : `failed with exit code ${exit.code}`;
    const lines = logFile.lastLines(JOB_LOG_LINES);
    throw new StartupFailure(`${spec.name} ${how} (log: ${logFile.path})`, lines);
  }

  async function stopStages(): Promise<void> {
    const limit = (spec: ChildSpec) => (fast ? FAST_STOP_LIMIT_MS : spec.stopLimitMs);
    await Promise.all([...jobs].map((job) => job.end('SIGTERM', JOB_STOP_LIMIT_MS)));
    const stages = new Set([...children.values()].map((child) => child.spec.stage));
    for (const stage of [...stages].sort((a, b) => b - a)) {
      const members = [...children.values()].filter((child) => child.spec.stage === stage);
      await Promise.all(members.map((child) => child.stop(limit(child.spec))));
    }
    await guardian.dismiss();
  }

  return {
    home,
    start,
    run,
    async restart(name) {
      const child = children.get(name);
      if (!child) throw new StartupFailure(`no process named ${name}; there are: ${[...children.keys()].join(', ')}`);
      await child.restart();
    },
    names: () => [...children.keys()],
    pids: () =>
      Object.fromEntries(
        [...children].flatMap(([name, child]) => (child.pid ? [[name, child.pid]] : [])),
      ),
    onChange: (listener) => listeners.push(listener),
    async stop(options) {
      fast ||= options?.fast ?? false;
      if (fast && stopping) for (const one of registered.values()) killNow(one);
      stopping ??= stopStages();
      await stopping;
    },
  };
}

function killNow(one: StackProcess): void {
  try {
    process.kill(-one.pid, 'SIGKILL');
  } catch {
    // It ended in between.
  }
}
