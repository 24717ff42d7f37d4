import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { readStackFile, type StackFile } from '@pixmesh/local-stack/mesh/stack-file';

/** A running stack; `home` is the folder with its data, logs and secrets. */
export type Stack = StackFile & { home: string };

/** Log lines, and all periods between checks, readings of lists and runs of reconciliation, as in production. */
const AS_IN_PRODUCTION = { LOG_LEVEL: 'info', PIXMESH_PERIODS: 'production' };

type Place = {
  /** Folder of its data; `PIXMESH_BENCH_HOME` stands above it. */
  home: string;
  /** The checkout whose mesh is booted; this one where it is left out. */
  checkout?: string;
  env?: NodeJS.ProcessEnv;
};

/** Boots a stack of its own for the time of `work`: fsync on, no demo. */
export async function withStack(
  place: Place,
  work: (stack: Stack) => Promise<void>,
): Promise<void> {
  const home = path.resolve(process.env['PIXMESH_BENCH_HOME'] ?? place.home);
  const env = { ...process.env, ...AS_IN_PRODUCTION, ...place.env, PIXMESH_HOME: home };
  const cwd = path.resolve(place.checkout ?? '.');
  runScript('start', ['--', '--detach', '--no-demo'], { env, cwd });
  try {
    await work({ ...readStackFile(home), home });
  } finally {
    runScript('stop', [], { env, cwd });
  }
}

function runScript(
  name: string,
  args: readonly string[],
  place: { env: NodeJS.ProcessEnv; cwd: string },
): void {
  const result = spawnSync('npm', ['run', '--silent', name, ...args], {
    stdio: 'inherit',
    ...place,
  });
  if (result.status !== 0) throw new Error(`npm run ${name} failed`);
}
