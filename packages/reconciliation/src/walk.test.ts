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

test('a sieve lets each id through once', () => {
  const unseen = createSieve();
  expect([unseen(['a', 'b', 'a']), unseen(['b', 'c'])]).toEqual([['a', 'b'], ['c']]);
});
