import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { noProgress } from '../progress.ts';
import { withInstallLock } from './install-lock.ts';

test('downloads of two starts come one after the other, also when the first fails', async () => {
  const cache = mkdtempSync(join(tmpdir(), 'pixmesh-cache-'));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  const trace: string[] = [];
  const { promise: failing, reject } = Promise.withResolvers<void>();
  const first = withInstallLock(cache, noProgress, () => failing);
  const second = withInstallLock(
    cache,
    { ...noProgress, line: (text) => void trace.push(text) },
    async () => void trace.push('second'),
  );
  expect(trace).toEqual(['another start is downloading; waiting for it']);
  reject(new Error('no network'));
  await expect(first).rejects.toThrow('no network');
  await second;
  expect(trace.at(-1)).toBe('second');
});
