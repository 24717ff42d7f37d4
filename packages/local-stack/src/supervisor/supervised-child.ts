import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../progress.ts';
import { StartupFailure } from '../startup-failure.ts';
import { type Exit, type StartedProcess, startProcess } from './child-process.ts';
import type { ChildSpec } from './child-spec.ts';
import { createLogFile, type LogFile } from './log-file.ts';
import type { ProcessRegister } from './process-register.ts';
import { type Death, isFailedBoot, recentDeaths, restartDelayMs } from './restart-policy.ts';

const READY_POLL_INTERVAL_MS = 40;

interface Deps {
  home: string;
  log: Progress;
  register: ProcessRegister;
}

/**
 * Keeps one process running. The first start must succeed; afterwards every death that was not asked
 * for is answered with a new start on the same ports, at once or after the restart policy's delay.
 */
export class SupervisedChild {
  spec: ChildSpec;
  readonly #deps: Deps;
  readonly #logFile: LogFile;
  readonly #stopping = new AbortController();
  #current: StartedProcess | undefined;
  #readyAtMs: number | undefined;
  #deaths: Death[] = [];
  #reviving: Promise<void> | undefined;

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
    this.#watch(await this.#boot());
  }

  /** Ends the process and starts it anew; resolves when the new one is ready. */
  async restart(variables: Readonly<Record<string, string>>): Promise<void> {
    await this.#reviving;
    this.spec = { ...this.spec, env: { ...this.spec.env, ...variables } };
    const previous = this.#current;
    this.#current = undefined;
    await previous?.end(this.spec.stopSignal, this.spec.stopLimitMs);
    try {
      this.#watch(await this.#boot());
    } catch (error) {
      this.#revive();
      throw error;
    }
  }

  /** From now on a death is not answered with a new start. */
  keepDown(): void {
    this.#stopping.abort();
  }

  async stop(limitMs = this.spec.stopLimitMs): Promise<void> {
    this.keepDown();
    await this.#current?.end(this.spec.stopSignal, limitMs);
    await this.#reviving;
  }

  async #boot(): Promise<StartedProcess> {
    await this.spec.prepare?.();
    this.#stopping.signal.throwIfAborted();
    this.#readyAtMs = undefined;
    const started = await this.#spawn();
    this.#current = started;
    this.#deps.register.track(this.spec, started);
    await this.#waitUntilReady(started);
    this.#readyAtMs = performance.now();
    return started;
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
      if (started.hasExited()) throw this.#failure(describeExit(name, await started.exited));
      if (performance.now() > deadline) {
        await started.end('SIGKILL', 0);
        throw this.#failure(`${name} was not ready within ${readyLimitMs / 1000} s`);
      }
      await delay(READY_POLL_INTERVAL_MS);
    }
  }

  #watch(started: StartedProcess): void {
    void started.exited.then((exit) => this.#answerDeath(started, exit));
  }

  #answerDeath(started: StartedProcess, exit: Exit): void {
    if (this.#current !== started || this.#stopping.signal.aborted) return;
    this.#recordDeath(exit);
    this.#deps.log.line(`${describeExit(this.spec.name, exit)}; restarting`);
    this.#revive();
  }

  #revive(): void {
    this.#reviving ??= this.#bootUntilReady().finally(() => {
      this.#reviving = undefined;
    });
  }

  async #bootUntilReady(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#waitOut(restartDelayMs(this.#deaths, performance.now()));
      try {
        this.#watch(await this.#boot());
        this.#deps.log.line(`${this.spec.name} is back, pid ${this.pid}`);
        return;
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#recordDeath({ code: 1, signal: null });
        this.#deps.log.line(`${(error as Error).message}; trying again`);
      }
    }
  }

  async #waitOut(delayMs: number): Promise<void> {
    if (delayMs === 0) return;
    await delay(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
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
