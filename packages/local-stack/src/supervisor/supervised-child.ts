import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../progress.ts';
import { createSequence } from '../sequence.ts';
import { StartupFailure } from '../startup-failure.ts';
import { type Exit, type StartedProcess, startProcess } from './child-process.ts';
import type { ChildSpec } from './child-spec.ts';
import { createLogFile, type LogFile } from './log-file.ts';
import type { ProcessRegister } from './process-register.ts';
import { type Death, isFailedBoot, recentDeaths, restartDelayMs } from './restart-policy.ts';

const READY_POLL_INTERVAL_MS = 40;
const FAILED_BOOT: Exit = { code: 1, signal: null };

interface Deps {
  home: string;
  log: Progress;
  register: ProcessRegister;
}

/**
 * Keeps one process running. The first start must succeed; afterwards every death that was not asked
 * for is answered with a new start on the same ports, at once or after the restart policy's delay.
 * Starts, restarts, revivals and the stop come one after the other: there never are two processes.
 */
export class SupervisedChild {
  spec: ChildSpec;
  readonly #deps: Deps;
  readonly #logFile: LogFile;
  readonly #stopping = new AbortController();
  readonly #inSequence = createSequence();
  /** What was started last, unless its end was asked for. */
  #current: StartedProcess | undefined;
  #readyAtMs: number | undefined;
  #deaths: Death[] = [];
  /** A restart that has not begun to boot: it does what further requests ask for. */
  #nextRestart: Promise<void> | undefined;
  #revival: NodeJS.Timeout | undefined;

  constructor(spec: ChildSpec, deps: Deps) {
    this.spec = spec;
    this.#deps = deps;
    this.#logFile = createLogFile(deps.home, spec.name);
  }

  get pid(): number | undefined {
    return this.#current?.hasExited() === false ? this.#current.identity.pid : undefined;
  }

  /** Resolves when the process is ready; a process that fails its first boot is not tried again. */
  async start(): Promise<void> {
    await this.#inSequence(() => this.#boot());
  }

  /** Resolves when a process that was started after this call is ready. */
  async restart(variables: Readonly<Record<string, string>>): Promise<void> {
    this.spec = { ...this.spec, env: { ...this.spec.env, ...variables } };
    this.#nextRestart ??= this.#inSequence(() => this.#replace());
    await this.#nextRestart;
  }

  /** From now on a death is not answered with a new start. */
  keepDown(): void {
    this.#stopping.abort(new StartupFailure(`${this.spec.name} is being stopped`));
    clearTimeout(this.#revival);
  }

  async stop(limitMs = this.spec.stopLimitMs): Promise<void> {
    this.keepDown();
    await this.#inSequence(() => this.#end(limitMs));
  }

  async #replace(): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    await this.#end(this.spec.stopLimitMs);
    this.#nextRestart = undefined;
    try {
      await this.#boot();
    } catch (error) {
      this.#reviveAfter(FAILED_BOOT);
      throw error;
    }
  }

  async #end(limitMs: number): Promise<void> {
    const ending = this.#current;
    this.#current = undefined;
    await ending?.end(this.spec.stopSignal, limitMs);
  }

  async #boot(): Promise<void> {
    this.#readyAtMs = undefined;
    await this.spec.prepare?.();
    this.#stopping.signal.throwIfAborted();
    const started = await this.#spawn();
    this.#current = started;
    this.#deps.register.track(this.spec, started);
    await this.#waitUntilReady(started);
    this.#readyAtMs = performance.now();
    void started.exited.then((exit) => this.#answerDeath(started, exit));
  }

  async #spawn(): Promise<StartedProcess> {
    try {
      return await startProcess(this.spec, this.#logFile);
    } catch (error) {
      throw new StartupFailure(
        `${this.spec.name} could not be started: ${(error as Error).message}`,
      );
    }
  }

  async #waitUntilReady(started: StartedProcess): Promise<void> {
    const { name, readyLimitMs } = this.spec;
    const run = { pid: started.identity.pid, output: started.output };
    const deadline = performance.now() + readyLimitMs;
    while (!(await this.spec.isReady(run))) {
      this.#stopping.signal.throwIfAborted();
      if (started.hasExited()) throw this.#failure(describeExit(name, await started.exited));
      if (performance.now() > deadline) {
        await started.end('SIGKILL', 0);
        throw this.#failure(`${name} was not ready within ${readyLimitMs / 1000} s`);
      }
      await delay(READY_POLL_INTERVAL_MS);
    }
  }

  #answerDeath(started: StartedProcess, exit: Exit): void {
    if (this.#current !== started || this.#stopping.signal.aborted) return;
    this.#deps.log.line(`${describeExit(this.spec.name, exit)}; restarting`);
    this.#reviveAfter(exit);
  }

  #reviveAfter(exit: Exit): void {
    if (this.#stopping.signal.aborted) return;
    this.#recordDeath(exit);
    clearTimeout(this.#revival);
    const delayMs = restartDelayMs(this.#deaths, performance.now());
    this.#revival = setTimeout(() => void this.#inSequence(() => this.#revive()), delayMs);
  }

  async #revive(): Promise<void> {
    const { signal } = this.#stopping;
    // A restart may have come first.
    if (this.pid !== undefined || signal.aborted) return;
    try {
      await this.#boot();
      this.#deps.log.line(`${this.spec.name} is back, pid ${this.pid}`);
    } catch (error) {
      if (signal.aborted) return;
      this.#deps.log.line(`${(error as Error).message}; trying again`);
      this.#reviveAfter(FAILED_BOOT);
    }
  }

  #recordDeath(exit: Exit): void {
    const now = performance.now();
    const readyForMs = this.#readyAtMs === undefined ? undefined : now - this.#readyAtMs;
    const failedBoot = isFailedBoot({ readyForMs, signal: exit.signal });
    this.#deaths = [...recentDeaths(this.#deaths, now), { atMs: now, failedBoot }];
  }

  #failure(message: string): StartupFailure {
    const lines = this.#logFile.lastLines();
    return new StartupFailure(`${message} (log: ${this.#logFile.path})`, lines);
  }
}

function describeExit(name: string, exit: Exit): string {
  return exit.signal
    ? `${name} was ended by ${exit.signal}`
    : `${name} ended with exit code ${exit.code}`;
}
