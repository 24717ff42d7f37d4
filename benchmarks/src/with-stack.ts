import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { readStackFile, type StackFile } from '@pixmesh/local-stack/mesh/stack-file';

/** A running stack; `home` is the folder with its data, logs and secrets. */
export type Stack = StackFile & { home: string };

/** Log lines as in production; status checks and reconciliation as far apart as there, not as on a laptop. */
const AS_IN_PRODUCTION = {
  LOG_LEVEL: 'info',
  READ_BACK_PENDING_MS_MAX: '300000',
  READ_BACK_UNKNOWN_MS: '5000',
  READ_BACK_UNKNOWN_MS_MAX: '30000',
  READ_BACK_ACCEPTED_MS: '60000',
  READ_BACK_ACCEPTED_MS_MAX: '300000',
  READ_BACK_INTENT_MS: '10000',
  READ_BACK_INTENT_MS_MAX: '30000',
  RECONCILIATION_MS: '300000',
  RECONCILIATION_FULL_MS: '86400000',
  RECONCILIATION_WINDOW_MS: '60000',
};

/** Boots a stack of its own for the time of `work`: fsync on, no demo. `PIXMESH_BENCH_HOME` places it. */
export async function withStack(
  folder: string,
  work: (stack: Stack) => Promise<void>,
): Promise<void> {
  const home = path.resolve(process.env['PIXMESH_BENCH_HOME'] ?? folder);
  const env = { ...process.env, ...AS_IN_PRODUCTION, PIXMESH_HOME: home };
  runScript('start', ['--', '--detach', '--no-demo'], env);
  try {
    await work({ ...readStackFile(home), home });
  } finally {
    runScript('stop', [], env);
  }
}

function runScript(name: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const result = spawnSync('npm', ['run', '--silent', name, ...args], { stdio: 'inherit', env });
  if (result.status !== 0) throw new Error(`npm run ${name} failed`);
}
