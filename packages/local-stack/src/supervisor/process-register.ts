import type { StartedProcess } from './child-process.ts';
import type { StackProcess } from './end-processes.ts';
import type { Guardian } from './guardian.ts';
import { writePidFile } from './pid-file.ts';
import { readProcessStart } from './process-identity.ts';

interface Deps {
  home: string;
  guardian: Guardian;
  runMark: string;
}

interface Hooks {
  onStarted(started: StartedProcess): void;
  onEnded(started: StartedProcess): void;
}

/** The one list of living processes: kept with the guardian and in the pid file at every change. */
export class ProcessRegister {
  readonly #deps: Deps;
  readonly #processes = new Map<number, StackProcess>();
  readonly #listeners: (() => void)[] = [];
  #released = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    deps.guardian.onReplaced(() => this.#write());
    deps.guardian.onDismissed(() => {
      this.#released = true;
    });
    this.#write();
  }

  list(): StackProcess[] {
    return [...this.#processes.values()];
  }

  hooksFor(spec: Pick<StackProcess, 'name' | 'stage' | 'stopSignal'>): Hooks {
    const { name, stage, stopSignal } = spec;
    return {
      onStarted: (started) => this.#add({ ...started.identity, name, stage, stopSignal }),
      onEnded: (started) => this.#remove(started.identity.pid),
    };
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #add(one: StackProcess): void {
    this.#processes.set(one.pid, one);
    this.#deps.guardian.started(one);
    this.#write();
  }

  #remove(pid: number): void {
    this.#processes.delete(pid);
    this.#deps.guardian.ended(pid);
    this.#write();
  }

  #write(): void {
    if (this.#released) return;
    const { guardian, home, runMark } = this.#deps;
    const pid = guardian.pid();
    const identity = { pid, startedAt: readProcessStart(pid) ?? 'ended' };
    writePidFile(home, { guardian: identity, runMark, processes: this.list() });
    for (const listener of this.#listeners) listener();
  }
}
