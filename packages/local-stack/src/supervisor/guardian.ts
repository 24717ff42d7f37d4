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
  /** Lets go of everything that is still registered and waits until the guardian has ended. */
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
  /** A new guardian took over; its pid has to be written down. */
  onReplaced(): void;
}): Guardian {
  const log = createLogFile(input.home, 'guardian');
  const registered = new Map<number, StackProcess>();
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
    launched.once('exit', () => {
      if (dismissed) return;
      child = launch();
      for (const one of registered.values()) send({ kind: 'started', process: one });
      input.onReplaced();
    });
    return launched;
  }

  function send(message: GuardianMessage): void {
    child.stdin!.write(`${JSON.stringify(message)}\n`);
  }

  return {
    pid: () => child.pid!,
    started(one) {
      registered.set(one.pid, one);
      send({ kind: 'started', process: one });
    },
    ended(pid) {
      registered.delete(pid);
      send({ kind: 'ended', pid });
    },
    async dismiss() {
      dismissed = true;
      const exited = new Promise((resolve) => child.once('exit', resolve));
      for (const pid of registered.keys()) send({ kind: 'ended', pid });
      child.stdin!.end();
      await exited;
    },
  };
}
