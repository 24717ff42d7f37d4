import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

const DOCKERFILE = path.resolve(import.meta.dirname, '../Dockerfile');

test('an image is not built on where its development packages could not be taken out', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'pixmesh-dockerfile-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, 'node'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  const step = steps().find((one) => one.includes('drop-development.ts')) ?? '';
  const { status, stderr } = spawnSync('/bin/sh', ['-c', step], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env['PATH']}` },
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([3, '']);
});

/** What each RUN gives to the shell. Docker takes comments out first, also from within a step. */
function steps(): string[] {
  const text = readFileSync(DOCKERFILE, 'utf8').replaceAll(/^ *#.*\n/gm, '');
  return [...text.matchAll(/^RUN ((?:.*\\\n)*.*)$/gm)].map(([, step = '']) => step);
}
