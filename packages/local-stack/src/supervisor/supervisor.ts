import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { Progress } from '../progress.ts';
import { createSequence } from '../sequence.ts';
import { StartupFailure } from '../startup-failure.ts';
import type { ChildSpec, JobSpec } from './child-spec.ts';
import { killGroup } from './end-processes.ts';
import { runJob } from './job.ts';
import { takeHome } from './pid-file.ts';
import { ProcessRegister } from './process-register.ts';
import { SupervisedChild } from './supervised-child.ts';

/** How long each process gets when the person at the terminal asked twice. */
const FAST_STOP_LIMIT_MS = 200;
const RUN_MARK_NAME = 'PIXMESH_STACK_RUN';

/** Takes the home, starts the guardian, and from then on owns every process of one stack. */
export async function createSupervisor(input: {
  home: string;
  log: Progress;
}): Promise<Supervisor> {
  mkdirSync(input.home, { recursive: true });
  const runId = randomUUID();
  const runMark = `${RUN_MARK_NAME}=${runId}`;
  await takeHome(input.home, input.log, runMark);
  const register = new ProcessRegister({ home: input.home, runMark });
  return new Supervisor({ ...input, runId, register });
}

interface Deps {
  home: string;
  log: Progress;
  runId: string;
  register: ProcessRegister;
}

type Variables = Readonly<Record<string, string>>;

/**
 * Owner of a stack's processes. Nothing that it starts outlives it: it stops them in the order of
 * their stages, and where it is killed itself, the guardian does.
 */
export class Supervisor {
  readonly home: string;
  readonly #deps: Deps;
  readonly #children = new Map<string, SupervisedChild>();
  readonly #jobs = new AbortController();
  readonly #closers: (() => Promise<void>)[] = [];
  /** Processes that another one keeps, by name. */
  readonly #kept = new Map<string, number>();
  /** How some of them are restarted. */
  readonly #restarts = new Map<string, (variables: Variables) => Promise<void>>();
  readonly #listeners: (() => void)[] = [];
  #stopping: Promise<void> | undefined;
  #fast = false;

  constructor(deps: Deps) {
    this.home = deps.home;
    this.#deps = deps;
  }

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Resolves when the process is ready; from then on it is kept running. */
  async start(spec: ChildSpec): Promise<void> {
    this.#requireRunning();
    const child = new SupervisedChild(this.#marked(spec), this.#deps);
    this.#children.set(spec.name, child);
    await child.start();
  }

  /** Runs a job to its end; anything but exit code 0 is a failure with its last log lines. */
  async run(spec: JobSpec): Promise<void> {
    this.#requireRunning();
    const { home, register } = this.#deps;
    await runJob(this.#marked(spec), { home, register, signal: this.#jobs.signal });
  }

  /** With further variables from now on, if any. Resolves when the new process is ready. */
  async restart(name: string, variables: Variables = {}): Promise<void> {
    const child = this.#children.get(name);
    const restart = child ? (more: Variables) => child.restart(more) : this.#restarts.get(name);
    if (!restart) {
      throw new StartupFailure(
        `no process is named ${name}; there are: ${this.names().join(', ')}`,
      );
    }
    await restart(variables);
  }

  /** Says how a process that another one keeps is restarted. */
  restartsBy(name: string, restart: (variables: Variables) => Promise<void>): void {
    const inSequence = createSequence();
    this.#restarts.set(name, (variables) => inSequence(() => restart(variables)));
  }

  /** Ends one process for good; resolves when it has ended. */
  async remove(name: string): Promise<void> {
    const child = this.#children.get(name);
    this.#children.delete(name);
    await child?.stop();
  }

  names(): string[] {
    return [...this.#children.keys(), ...this.#restarts.keys()];
  }

  /** Living processes by name. */
  pids(): Record<string, number> {
    const living = [...this.#children].filter(([, child]) => child.pid !== undefined);
    return Object.fromEntries([
      ...this.#kept,
      ...living.map(([name, child]) => [name, child.pid!] as const),
    ]);
  }

  /** Shows a process that another one starts and ends, such as a container engine; null: it has ended. */
  show(name: string, pid: number | null): void {
    if (pid === null) this.#kept.delete(name);
    else this.#kept.set(name, pid);
    for (const listener of this.#listeners) listener();
  }

  /** Called after every start and death of a process. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
    this.#deps.register.onChange(listener);
  }

  /** Called after the last process has ended; for what is not a process of ours, such as containers. */
  onStop(closer: () => Promise<void>): void {
    this.#closers.push(closer);
  }

  /** Ends everything, stage by stage; a second call with `fast` kills what is still there. */
  async stop(options: { fast?: boolean } = {}): Promise<void> {
    if (options.fast) {
      this.#fast = true;
      if (this.#stopping) for (const one of this.#deps.register.list()) killGroup(one);
    }
    this.#stopping ??= this.#stopStages();
    await this.#stopping;
  }

  async #stopStages(): Promise<void> {
    this.#jobs.abort();
    const children = [...this.#children.values()];
    for (const child of children) child.keepDown();
    const stages = [...new Set(children.map((child) => child.spec.stage))].sort((a, b) => b - a);
    for (const stage of stages) {
      const members = children.filter((child) => child.spec.stage === stage);
      await Promise.all(members.map((child) => child.stop(this.#stopLimitMs(child.spec))));
    }
    await Promise.allSettled(this.#closers.map((close) => close()));
    await this.#deps.register.release();
  }

  #stopLimitMs(spec: ChildSpec): number {
    return this.#fast ? FAST_STOP_LIMIT_MS : spec.stopLimitMs;
  }

  #marked<Spec extends { env: Readonly<Record<string, string>> }>(spec: Spec): Spec {
    return { ...spec, env: { ...spec.env, [RUN_MARK_NAME]: this.#deps.runId } };
  }

  #requireRunning(): void {
    if (this.isStopping) throw new StartupFailure('the stack is being stopped');
  }
}
