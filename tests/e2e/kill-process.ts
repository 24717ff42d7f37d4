import { eventually } from '@pixmesh/testkit/eventually';
import { expect } from 'vitest';

import { stack } from './mesh.ts';

const BACK_MS_MAX = 60_000;

/** A signal to 0 would be one to the tests themselves. */
export function pidOf(name: string): number {
  const pid = stack().pids[name];
  if (pid === undefined) throw new Error(`${name} does not run`);
  return pid;
}

/** Kills a process and waits until the supervisor has it back under a new pid. */
export async function killProcess(name: string): Promise<void> {
  const pid = pidOf(name);
  process.kill(pid, 'SIGKILL');
  await eventually(() => {
    expect(stack().pids[name] ?? pid).not.toBe(pid);
  }, BACK_MS_MAX);
}
