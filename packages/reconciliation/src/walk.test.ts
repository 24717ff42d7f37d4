import { expect, test } from 'vitest';

import { createSieve, createWalk } from './walk.ts';

function walkOver(ids: string[]) {
  return createWalk({
    read: async (after, limit) => ids.filter((id) => after === null || id > after).slice(0, limit),
    idOf: (id: string) => id,
    pageSize: 2,
  });
}

test('all pages are every item once', async () => {
  const pages: string[][] = [];
  for await (const page of walkOver(['a', 'b', 'c']).all()) pages.push(page);
  expect(pages).toEqual([['a', 'b'], ['c']]);
});

test('the next page goes on where the last ended, and begins again behind the end', async () => {
  const walk = walkOver(['a', 'b', 'c']);
  expect([await walk.next(), await walk.next(), await walk.next()]).toEqual([
    ['a', 'b'],
    ['c'],
    ['a', 'b'],
  ]);
});

test('nothing is one empty page', async () => {
  const walk = walkOver([]);
  expect([await walk.next(), await walk.next()]).toEqual([[], []]);
});

test('a sieve of many ids holds the newest of them, not all', () => {
  const { fresh } = createSieve();
  const batch = 10_000;
  for (let start = 0; start < 210_000; start += batch) {
    fresh(Array.from({ length: batch }, (_, index) => String(start + index)));
  }
  expect(fresh(['110000', '209999'])).toEqual([]);
  expect(fresh(['0'])).toEqual(['0']);
});

test('a sieve lets each id through once', () => {
  const { fresh } = createSieve();
  expect([fresh(['a', 'b', 'a']), fresh(['b', 'c'])]).toEqual([['a', 'b'], ['c']]);
});
