import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { HostileReceivers } from './hostile-receivers.ts';

import { ownProcess } from './owned-process.ts';

const SCRIPT = fileURLToPath(new URL('run-hostile-receivers.ts', import.meta.url));

export type HostileProcess = Pick<HostileReceivers, 'port' | 'ports'> & {
  /** A name server that takes every question and answers none. */
  readonly silentDns: string;
};

/** Hostile receivers in a process of their own, and a silent name server. */
export async function startHostileProcess(): Promise<HostileProcess & AsyncDisposable> {
  const child = ownProcess(spawn(process.execPath, [SCRIPT], { stdio: ['pipe', 'pipe', 'pipe'] }));
  const exited = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    exited.then(() => ['null']),
  ])) as [string];
  const started = JSON.parse(line) as HostileProcess | null;
  if (started === null) throw new Error('the hostile receivers did not start');
  return {
    ...started,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
