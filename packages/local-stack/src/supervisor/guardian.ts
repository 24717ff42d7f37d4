import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { StackProcess } from './end-processes.ts';
import type { GuardianMessage } from './guardian-main.ts';
import { createLogFile } from './log-file.ts';

const GUARDIAN_MAIN = fileURLToPath(new URL('guardian-main.ts', import.meta.url));

export interface Guardian {
  pid(): number;
  started(process: StackProcess): void;
  ended(pid: number): void;
  /** A new guardian took over from one that was killed. */
  onReplaced(listener: () => void): void;
  onDismissed(listener: () => void): void;
  /** Releases everything that is still registered and waits until the guardian has ended. */
  dismiss(): Promise<void>;
}

/**
 * Starts the guardian in its own session, out of reach of the terminal's Ctrl-C. Should somebody end
 * it, a new one takes over with the same list.
 */
export function startGuardian(input: {
  home: string;
  runMark: string;
  filesToRemove: readonly string[];
}): Guardian {
  const log = createLogFile(input.home, 'guardian');
  const registered = new Map<number, StackProcess>();
  const listeners = { replaced: [] as (() => void)[], dismissed: [] as (() => void)[] };
  let dismissed = false;
  let child = launch();

  function launch(): ChildProcess {
    const descriptor = log.open();
    const args = [GUARDIAN_MAIN, input.runMark, ...input.filesToRemove];
    const launched = spawn(process.execPath, args, {
      cwd: '/',
      detached: true,
      stdio: ['pipe', descriptor, descriptor],
    });
    closeSync(descriptor);
    launched.stdin!.on('error', () => undefined);
    launched.once('exit', takeOver);
    return launched;
  }

  function takeOver(): void {
    if (dismissed) return;
    child = launch();
    for (const one of registered.values()) send({ kind: 'started', process: one });
    for (const listener of listeners.replaced) listener();
  }

  function send(message: GuardianMessage): void {
    child.stdin!.write(`${JSON.stringify(message)}\n`);
  }

  async function dismiss(): Promise<void> {
    dismissed = true;
    for (const listener of listeners.dismissed) listener();
    const exited = new Promise((resolve) => child.once('exit', resolve));
    for (const pid of registered.keys()) send({ kind: 'ended', pid });
    child.stdin!.end();
    await exited;
  }

  return {
    pid: () => child.pid!,
    started: (one) => {
      registered.set(one.pid, one);
      send({ kind: 'started', process: one });
    },
    ended: (pid) => {
      registered.delete(pid);
      send({ kind: 'ended', pid });
    },
    onReplaced: (listener) => listeners.replaced.push(listener),
    onDismissed: (listener) => listeners.dismissed.push(listener),
    dismiss,
  };
}
