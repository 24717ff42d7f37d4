import { spawnSync } from 'node:child_process';

import { processEnvironment } from '@pixmesh/testkit/process-environment';
import { expect, test } from 'vitest';

test('a word that is no deploy job ends with 1 and the words that are, and runs nothing', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['deploy/main.ts', 'rotat'], {
    env: processEnvironment(),
    encoding: 'utf8',
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'deploy: expected one of callback, identities, owner, rotate, topics, or no word\n',
  });
});
