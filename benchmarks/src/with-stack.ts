import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** What a benchmark needs to know of a running stack. */
export type Stack = {
  gateway_url: string;
  simulator_url: string;
  postgres_url: string;
  api_key: string;
};

/** Boots a stack of its own for the time of `work`: fsync on, no demo. */
export async function withStack(
  home: string,
  work: (stack: Stack) => Promise<void>,
): Promise<void> {
  // Looks at unpaid charges as far apart as in production, not as on a laptop.
  const periods = { READ_BACK_PENDING_MS_MAX: '300000' };
  const env = { ...process.env, ...periods, PIXMESH_HOME: path.resolve(home) };
  runScript('start', ['--', '--detach', '--no-demo'], env);
  try {
    await work(
      JSON.parse(readFileSync(path.join(env.PIXMESH_HOME, 'stack.json'), 'utf8')) as Stack,
    );
  } finally {
    runScript('stop', [], env);
  }
}

function runScript(name: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const result = spawnSync('npm', ['run', '--silent', name, ...args], { stdio: 'inherit', env });
  if (result.status !== 0) throw new Error(`npm run ${name} failed`);
}
