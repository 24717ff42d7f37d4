import { spawnSync } from 'node:child_process';

import { REPOSITORY_ROOT } from '@pixmesh/local-stack/repository';

const TEST = 'tests/e2e/long/rotations.e2e.test.ts';

/** The long test of rotations, which changes each secret as the guide says, on a mesh of its own. */
export async function runRotations(): Promise<boolean> {
  const args = ['vitest', 'run', '--project', 'e2e-own', TEST];
  const env = { ...process.env, PIXMESH_LONG: '1' };
  const { status } = spawnSync('npx', args, { cwd: REPOSITORY_ROOT, env, stdio: 'inherit' });
  return status === 0;
}
