import { expect, test } from 'vitest';

import { fourTimesFree } from './share-of-places.ts';

/** What each of so many accounts has of the places, taken in turns until none of them may have more. */
function takeAll(accounts: number, places: number): number[] {
  const held = Array.from({ length: accounts }, () => 0);
  let free = places;
  for (let lap = 0; lap < places; lap += 1) {
    for (const [account, count] of held.entries()) {
      if (!fourTimesFree(count, free)) continue;
      held[account] = count + 1;
      free -= 1;
    }
  }
  return held;
}

test('one alone has four fifths, two have four ninths each, and there is room for the next one', () => {
  expect(takeAll(1, 640)).toEqual([512]);
  expect(takeAll(2, 90)).toEqual([40, 40]);
  expect(takeAll(4, 170)).toEqual([40, 40, 40, 40]);
});

test('where nothing is free nobody may have more, and where something is, who holds nothing may', () => {
  expect(fourTimesFree(0, 0)).toBe(false);
  expect(fourTimesFree(0, 1)).toBe(true);
  expect(fourTimesFree(4, 1)).toBe(false);
});
