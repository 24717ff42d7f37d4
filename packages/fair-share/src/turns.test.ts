import { AssertionError } from 'node:assert';

import { testSeed } from '@pixmesh/testkit/test-seed';
import { describe, expect, it, test } from 'vitest';

import { createTurns, type Turns } from './turns.ts';
import { liveThrough } from './testing/random-life.ts';

const ARRIVALS = 1_000_000;
const ARRIVALS_OF_A_BUG = 20_000;

/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test(`in ${ARRIVALS} random arrivals no account is more than one turn ahead, none is left out, nothing idles (seed ${testSeed()})`, () => {
  const { served, late, aborted } = liveThrough(ARRIVALS, randomBy(testSeed()));
  expect(served + late + aborted).toBe(ARRIVALS);
  expect(Math.min(served, late, aborted)).toBeGreaterThan(ARRIVALS / 100);
}, 240_000);

type Plant = <Item>(turns: Turns<Item>) => Turns<Item>;

describe('the same arrivals find a planted bug', () => {
  it.each<[string, Plant]>([
    [
      'one list of all accounts',
      (turns) => ({ ...turns, wait: (_, item) => turns.wait('', item) }),
    ],
    ['a place that stays free', (turns) => ({ ...turns, end: () => (turns.take(), turns.end()) })],
    ['an end that hands nothing on', (turns) => ({ ...turns, end: () => null })],
    ['one who leaves and stays on the list', (turns) => ({ ...turns, leave: () => false })],
  ])('%s', (_, plant) => {
    const planted = () => liveThrough(ARRIVALS_OF_A_BUG, randomBy(7), (n) => plant(createTurns(n)));
    expect(planted).toThrow(AssertionError);
  });
});
