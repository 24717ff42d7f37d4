import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { ALLOCATOR, NODE_FLAGS } from '@pixmesh/local-stack/mesh/service-process';
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

test('a service of an image has the memory and the threads that it has on a laptop', () => {
  const text = readFileSync(DOCKERFILE, 'utf8');
  expect(text.match(/NODE_OPTIONS="(.*)"/)?.[1]).toBe(NODE_FLAGS.join(' '));
  for (const [name, value] of Object.entries(ALLOCATOR)) expect(text).toContain(`${name}=${value}`);
});

/** What each RUN gives to the shell. Docker takes comments out first, also from within a step. */
function steps(): string[] {
  const text = readFileSync(DOCKERFILE, 'utf8').replaceAll(/^ *#.*\n/gm, '');
  return [...text.matchAll(/^RUN ((?:.*\\\n)*.*)$/gm)].map(([, step = '']) => step);
}
