import { expect, test } from 'vitest';

import { newestFirst, readPages } from './list-pages.ts';

const ITEMS = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id }));

async function readPage({ limit, startingAfter }: { limit: number; startingAfter: string | null }) {
  const from = ITEMS.findIndex(({ id }) => id === startingAfter) + 1;
  return ITEMS.slice(from, from + limit);
}

test.each([1, 2, 5, 6])('pages of %i give every item once, in order', async (limit) => {
  expect(await readPages(limit, readPage)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('a list that repeats its first page for ever is told', async () => {
  await expect(readPages(5, async () => ITEMS)).rejects.toThrow('did not end');
});

test('the newest comes first, and of one instant the larger id', () => {
  const at = (id: string, second: number) => ({ id, createdAt: new Date(second * 1_000) });
  const sorted = [at('b', 1), at('a', 2), at('c', 1)].toSorted(newestFirst);
  expect(sorted.map(({ id }) => id)).toEqual(['a', 'c', 'b']);
});
