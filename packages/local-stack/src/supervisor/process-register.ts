import type { StartedProcess } from './child-process.ts';
import type { StackProcess } from './end-processes.ts';
import { type Guardian, startGuardian } from './guardian.ts';
import { writePidFile } from './pid-file.ts';
import { readProcessStart } from './process-identity.ts';
import { runFiles } from './run-files.ts';

/** The one list of living processes: kept with the guardian and in the pid file at every change. */
export class ProcessRegister {
  readonly #home: string;
  readonly #runMark: string;
  readonly #guardian: Guardian;
  readonly #processes = new Map<number, StackProcess>();
  readonly #listeners: (() => void)[] = [];
  #released = false;

  constructor({ home, runMark }: { home: string; runMark: string }) {
    this.#home = home;
    this.#runMark = runMark;
    this.#guardian = startGuardian({
      home,
      runMark,
      filesToRemove: runFiles(home),
      list: () => this.list(),
      onReplaced: () => this.#write(),
    });
    this.#write();
  }

  list(): StackProcess[] {
    return [...this.#processes.values()];
  }

  /** Lists a process from its start to its end. */
  track(
    { name, stage, stopSignal }: Pick<StackProcess, 'name' | 'stage' | 'stopSignal'>,
    { identity, exited }: StartedProcess,
  ): void {
    const { pid } = identity;
    const process = { ...identity, name, stage, stopSignal };
    this.#processes.set(pid, process);
    this.#guardian.started(process);
    this.#write();
    void exited.then(() => this.#forget(pid));
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Ends the watch over the processes; what the run wrote about itself goes with the guardian. */
  async release(): Promise<void> {
    this.#released = true;
    await this.#guardian.dismiss();
  }

  #forget(pid: number): void {
    this.#processes.delete(pid);
    this.#guardian.ended(pid);
    this.#write();
  }

  #write(): void {
    if (this.#released) return;
    const pid = this.#guardian.pid();
    const guardian = { pid, startedAt: readProcessStart(pid) ?? 'ended' };
    writePidFile(this.#home, { guardian, runMark: this.#runMark, processes: this.list() });
    for (const listener of this.#listeners) listener();
  }
}
