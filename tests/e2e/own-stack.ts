import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll } from 'vitest';

import { useHome } from './mesh.ts';

/** A second stack beside the ring's, on a busy machine. */
const BOOT_MS_MAX = 400_000;

/** Boots a stack for the file that calls it, with settings of its own, and has everything in it speak with that one: its home. */
export function bootOwnStack(
  name: string,
  settings: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): string {
  const home = path.resolve(`.pixmesh-e2e-${name}`);
  beforeAll(() => {
    npmRun(['stop']);
    rmSync(home, { recursive: true, force: true });
    const exitCode = npmRun(['start', '--', '--detach', '--no-demo', ...flags]);
    if (exitCode !== 0) throw new Error('the stack did not start');
    useHome(home);
  }, BOOT_MS_MAX);
  afterAll(() => {
    npmRun(['stop']);
  });
  return home;

  function npmRun(args: readonly string[]): number {
    const env = { ...process.env, ...settings, PIXMESH_HOME: home };
    return spawnSync('npm', ['run', '--silent', ...args], { stdio: 'inherit', env }).status ?? 1;
  }
}
