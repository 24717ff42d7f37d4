import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { StackProcess } from './end-processes.ts';
import type { GuardianMessage } from './guardian-main.ts';
import { createLogFile } from './log-file.ts';

const GUARDIAN_MAIN = fileURLToPath(new URL('guardian-main.ts', import.meta.url));

export interface Guardian {
  pid(): number;
  started(process: StackProcess): void;
  ended(pid: number): void;
  /** Releases everything that is still listed and waits until the guardian has ended. */
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
  /** The processes that it has to end. */
  list(): readonly StackProcess[];
  /** A new guardian took over from one that was killed. */
  onReplaced(): void;
}): Guardian {
  const log = createLogFile(input.home, 'guardian');
  let dismissed = false;
  let child = launch();

  function launch(): ChildProcess {
    const args = [GUARDIAN_MAIN, input.runMark, ...input.filesToRemove];
    const launched = log.lend((descriptor) =>
      spawn(process.execPath, args, {
        cwd: '/',
        detached: true,
        stdio: ['pipe', descriptor, descriptor],
      }),
    );
    launched.stdin!.on('error', () => undefined);
    launched.once('exit', takeOver);
    return launched;
  }

  function takeOver(): void {
    if (dismissed) return;
    child = launch();
    for (const one of input.list()) send({ kind: 'started', process: one });
    input.onReplaced();
  }

  function send(message: GuardianMessage): void {
    child.stdin!.write(`${JSON.stringify(message)}\n`);
  }

  return {
    pid: () => child.pid!,
    started: (one) => send({ kind: 'started', process: one }),
    ended: (pid) => send({ kind: 'ended', pid }),
    async dismiss() {
      dismissed = true;
      const exited = new Promise((resolve) => child.once('exit', resolve));
      for (const { pid } of input.list()) send({ kind: 'ended', pid });
      child.stdin!.end();
      await exited;
    },
  };
}
