import { expect, test } from 'vitest';
import { z } from 'zod';

import { createWriteBatcher } from './write-batcher.ts';

test.each([
  ['a message of it does not fit its schema', () => z.string().parse(1)],
  ['our own program stumbles over it', () => (null as unknown as string).length],
])('one item is refused alone where %s', async (_what, stumble) => {
  const batcher = createWriteBatcher(async (items: readonly number[]) =>
    items.map((item) => {
      if (item === 3) stumble();
      return item * 10;
    }),
  );
  const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => batcher.submit(item)));
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
});
