import { expect, test } from 'vitest';

import { eventually } from './eventually.ts';

test('a probe is repeated until it holds, and its value is the answer', async () => {
  let tries = 0;
  const value = await eventually(() => {
    tries += 1;
    if (tries < 3) throw new Error('not yet');
    return tries;
  });
  expect(value).toBe(3);
});

test('after the timeout the last error is thrown', async () => {
  let tries = 0;
  const never = eventually(() => {
    tries += 1;
    return Promise.reject(new Error(`try ${tries}`));
  }, 60);
  await expect(never).rejects.toThrow(/^try [2-9]$/);
});
