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

test('where the database answers none any more, items that were to be written alone are not tried', async () => {
  const written: number[][] = [];
  const batcher = createWriteBatcher(async (items: readonly number[]) => {
    written.push([...items]);
    if (items.length > 1) throw Object.assign(new Error('locked'), { code: '55P03' });
    if (items[0] === 2) throw new Error('away');
    return items.map(() => 'done');
  });
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((item) => batcher.submit(item)));
  const away = { status: 'rejected', reason: { message: 'away' } };
  expect(outcomes).toMatchObject([{ status: 'fulfilled', value: 'done' }, away, away, away]);
  expect(written).toEqual([[1, 2, 3, 4], [1], [2]]);
});

test('where the table is locked, the rest of a batch is not tried, and what waits behind it is', async () => {
  const written: number[][] = [];
  const batcher = createWriteBatcher(async (items: readonly number[]) => {
    written.push([...items]);
    throw Object.assign(new Error('locked'), { code: '55P03' });
  });
  const items = Array.from({ length: 70 }, (_, index) => index);
  const outcomes = await Promise.allSettled(items.map((item) => batcher.submit(item)));
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
  const behind = items.slice(64);
  expect(written).toEqual([items.slice(0, 64), [0], [1], [2], behind, [64], [65], [66]]);
});

test('rows that are locked one after the other behind one that was written are refused, and it is not', async () => {
  const batcher = createWriteBatcher(async (items: readonly number[]) => {
    if (items.some((item) => item > 1)) throw Object.assign(new Error('locked'), { code: '55P03' });
    return items.map(() => 'done');
  });
  const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => batcher.submit(item)));
  const [first, ...others] = outcomes;
  expect(first).toMatchObject({ value: 'done' });
  expect(others.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
});
