import { eventually } from '@pixmesh/testkit/eventually';
import { expect } from 'vitest';

import { stack } from './mesh.ts';

const BACK_MS_MAX = 60_000;

/** Kills a process and waits until the supervisor has it back under a new pid. */
export async function killProcess(name: string): Promise<void> {
  const pid = stack().pids[name] ?? 0;
  expect(pid).toBeGreaterThan(0);
  process.kill(pid, 'SIGKILL');
  await eventually(() => {
    expect(stack().pids[name] ?? pid).not.toBe(pid);
  }, BACK_MS_MAX);
}
