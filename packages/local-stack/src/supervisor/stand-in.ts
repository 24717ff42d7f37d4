import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildSpec } from './child-spec.ts';

/** A home of its own for one test. */
export function aHome(): string {
  return mkdtempSync(join(tmpdir(), 'pixmesh-supervisor-'));
}

/** A child that runs `script`, prints `ready` and runs until it is ended. */
export function aChild(overrides: Partial<ChildSpec> & { script?: string } = {}): ChildSpec {
  const { script = '', ...rest } = overrides;
  const code = `setInterval(() => {}, 1000); ${script}; console.log('ready ' + process.pid);`;
  return {
    name: 'stand-in',
    command: process.execPath,
    args: ['-e', code],
    env: {},
    cwd: tmpdir(),
    stage: 60,
    stopSignal: 'SIGTERM',
    stopLimitMs: 2_000,
    readyLimitMs: 10_000,
    isReady: async (run) => run.output().includes(`ready ${run.pid}`),
    ...rest,
  };
}
