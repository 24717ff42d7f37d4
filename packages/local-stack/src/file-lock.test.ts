import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { tryLockFile } from './file-lock.ts';

const MODULE = fileURLToPath(new URL('file-lock.ts', import.meta.url));

function aPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pixmesh-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'lock');
}

test('one has the lock until it disposes of it', () => {
  const path = aPath();
  const first = tryLockFile(path);
  expect(tryLockFile(path)).toBeUndefined();
  first?.[Symbol.dispose]();
  using second = tryLockFile(path);
  expect(second).toBeDefined();
});

test('a process has the lock until it is killed', async () => {
  const path = aPath();
  const code = `
    const { tryLockFile } = await import('${MODULE}');
    globalThis.lock = tryLockFile('${path}');
    console.log('locked');
    setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', code]);
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  expect(tryLockFile(path)).toBeUndefined();
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  using lock = tryLockFile(path);
  expect(lock).toBeDefined();
});
