import { expect, test } from 'vitest';

import { takeWanted } from './step-recovery.ts';

const candidates = ['a', 'B', 'c', 'D', 'e'].map((id) => ({
  id,
  isWanted: id === id.toUpperCase(),
}));

test.each([
  { limit: 3, wanted: ['B', 'D'], last: 'e', isAllRead: true },
  { limit: 2, wanted: ['B', 'D'], last: 'e', isAllRead: true },
  { limit: 1, wanted: ['B'], last: 'c', isAllRead: false },
])('a step takes $limit at most and stops before the next wanted one', ({ limit, ...taken }) => {
  expect(takeWanted(candidates, limit)).toEqual(taken);
});

test('nothing to read leaves the position as it is', () => {
  expect(takeWanted([], 5)).toEqual({ wanted: [], last: null, isAllRead: true });
});
