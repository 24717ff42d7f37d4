import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ProgramSpec } from './child-spec.ts';
import type { LogFile } from './log-file.ts';
import { killGroup, signalProcess, waitUntilGone } from './end-processes.ts';
import { type ProcessIdentity, readProcessStart } from './process-identity.ts';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface StartedProcess {
  identity: ProcessIdentity;
  exited: Promise<Exit>;
  hasExited(): boolean;
  output(): string;
  /** The polite signal, then SIGKILL for the whole group once the limit is over. */
  end(signal: NodeJS.Signals, limitMs: number): Promise<void>;
}

/** How long a process may take to disappear after SIGKILL. */
const KILL_LIMIT_MS = 5_000;

/**
 * Starts a process as leader of its own group and session, so that Ctrl-C at the terminal reaches
 * the supervisor alone and the order of stopping stays ours. It writes its log through its own
 * descriptor: no pipe that could fill up, and nothing lost when the supervisor dies.
 */
export async function startProcess(spec: ProgramSpec, log: LogFile): Promise<StartedProcess> {
  const offset = log.size();
  const child = log.lend((descriptor) =>
    spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env: spec.env,
      detached: true,
      stdio: ['ignore', descriptor, descriptor],
      ...spec.owner,
    }),
  );
  await once(child, 'spawn');
  const exited: Promise<Exit> = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const pid = child.pid!;
  const identity = { pid, startedAt: readProcessStart(pid) ?? 'ended' };
  return {
    identity,
    exited,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    output: () => log.tailSince(offset),
    end: async (signal, limitMs) => {
      signalProcess(identity, signal);
      if (!(await waitUntilGone([identity], limitMs))) killGroup(identity);
      await waitUntilGone([identity], KILL_LIMIT_MS);
    },
  };
}
