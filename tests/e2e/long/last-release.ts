import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll } from 'vitest';

/** A clean install, on a busy machine. */
const INSTALL_MS_MAX = 600_000;

/**
 * Checks the commit that `deploy/last-release` names out into a folder of its own, with its packages, before the tests of
 * the file that calls it, and removes it after them.
 */
export function checkOutLastRelease(): string {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'pixmesh-release-')), 'checkout');
  beforeAll(() => {
    const commit = readFileSync('deploy/last-release', 'utf8').trim();
    if (run('git', ['cat-file', '-e', `${commit}^{commit}`]) !== 0) {
      throw new Error(
        `${commit} of deploy/last-release is not in this checkout: git fetch --unshallow brings it`,
      );
    }
    mustEnd(run('git', ['worktree', 'add', '--quiet', '--detach', folder, commit]), 'git worktree');
    mustEnd(run('npm', ['ci', '--no-audit', '--no-fund'], folder), 'npm ci');
  }, INSTALL_MS_MAX);
  afterAll(() => {
    run('git', ['worktree', 'remove', '--force', folder]);
  });
  return folder;
}

function run(command: string, args: readonly string[], cwd = process.cwd()): number {
  return spawnSync(command, args, { cwd, stdio: 'inherit' }).status ?? 1;
}

function mustEnd(exitCode: number, what: string): void {
  if (exitCode !== 0) throw new Error(`${what} failed`);
}
