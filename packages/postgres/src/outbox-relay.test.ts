import { describe, expect, test } from 'vitest';

import { nextGatherMs } from './outbox-relay.ts';

type Publication = Parameters<typeof nextGatherMs>[1];

const BUSY: Publication = { hasWaited: true, taken: 3 };
const AT_ONCE: Publication = { hasWaited: false, taken: 1 };

/** The time after each of these publications, one after the other. */
function gatherTimes(...publications: readonly Publication[]): number[] {
  let gatherMs = 10;
  return publications.map((publication) => (gatherMs = nextGatherMs(gatherMs, publication)));
}

describe('the relay gathers', () => {
  test('longer while some events had to wait each time, up to 30 ms', () => {
    expect(gatherTimes(AT_ONCE, BUSY, BUSY, BUSY, BUSY)).toEqual([10, 15, 22.5, 30, 30]);
  });

  test('for as long as before where one or two had to wait', () => {
    const one: Publication = { hasWaited: true, taken: 1 };
    expect(gatherTimes(one, BUSY, BUSY, one, { ...one, taken: 2 })).toEqual([
      10, 15, 22.5, 22.5, 22.5,
    ]);
  });

  test.each([
    ['an event that did not have to wait', AT_ONCE],
    ['a turn that found nothing', { hasWaited: true, taken: 0 }],
    ['so many events that they share the cost of a publication', { hasWaited: true, taken: 16 }],
  ])('for 10 ms again after %s', (_what, publication) => {
    expect(gatherTimes(BUSY, BUSY, BUSY, publication, BUSY)).toEqual([15, 22.5, 30, 10, 15]);
  });
});
