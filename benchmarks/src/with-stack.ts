import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { readStackFile, type StackFile } from '@pixmesh/local-stack/mesh/stack-file';

/** A running stack; `home` is the folder with its data, logs and secrets. */
export type Stack = StackFile & { home: string };

/**
 * Log lines as in production; status checks, reconciliation and the search for what the acquirer shows late as far
 * apart as there.
 */
const AS_IN_PRODUCTION = {
  LOG_LEVEL: 'info',
  READ_BACK_PENDING_MS_MAX: '300000',
  READ_BACK_UNKNOWN_MS: '5000',
  READ_BACK_UNKNOWN_MS_MAX: '30000',
  READ_BACK_ACCEPTED_MS: '60000',
  READ_BACK_ACCEPTED_MS_MAX: '300000',
  READ_BACK_INTENT_MS: '10000',
  READ_BACK_INTENT_MS_MAX: '30000',
  RECEIVED_LIST_LATE_MS: '300000',
  SENT_LIST_LATE_MS: '300000',
  RECONCILIATION_MS: '300000',
  RECONCILIATION_FULL_MS: '86400000',
  RECONCILIATION_WINDOW_MS: '60000',
};

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
