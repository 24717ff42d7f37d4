import { expect, test } from 'vitest';

import { settleAll } from './settle-all.ts';

test('a failure is answered when nothing goes on any more', async () => {
  const other = Promise.withResolvers<void>();
  const ended: string[] = [];
  const failing = settleAll([
    Promise.reject(new Error('no port')),
    other.promise.then(() => void ended.push('other')),
  ]);
  setImmediate(other.resolve);
  await expect(failing).rejects.toThrow('no port');
  expect(ended).toEqual(['other']);
});
