import { AssertionError } from 'node:assert';

import { testSeed } from '@pixmesh/testkit/test-seed';
import { describe, expect, it, test } from 'vitest';

import { anyFree, fourTimesFree, type Share } from './share-of-places.ts';
import { createTurns, type Turns } from './turns.ts';
import { liveThrough } from './testing/random-life.ts';
import type { MayHave } from './testing/witness.ts';

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

const SHARES: [string, Share, MayHave][] = [
  ['any place that is free', anyFree, (_held, free) => free > 0],
  ['four times as many places as are free', fourTimesFree, (held, free) => held + 1 <= 4 * free],
];

test.each(SHARES)(
  `where an account may hold %s, in ${ARRIVALS} random arrivals none is more than one turn ahead, none is left out, nothing idles (seed ${testSeed()})`,
  (_, share, mayHave) => {
    const { served, late, aborted } = liveThrough({
      arrivals: ARRIVALS,
      random: randomBy(testSeed()),
      mayHave,
      create: (places) => createTurns(places, share),
    });
    expect(served + late + aborted).toBe(ARRIVALS);
    expect(Math.min(served, late, aborted)).toBeGreaterThan(ARRIVALS / 100);
  },
  240_000,
);

type Plant = <Item>(turns: Turns<Item>, places: number) => Turns<Item>;

const PLANTS: [string, Plant][] = [
  ['one list of all accounts', (turns) => ({ ...turns, wait: (_, item) => turns.wait('', item) })],
  [
    'a place that stays free',
    (turns) => ({ ...turns, end: (account) => (turns.take(account), turns.end(account)) }),
  ],
  ['an end that hands nothing on', (turns) => ({ ...turns, end: () => [] })],
  ['one who leaves and stays on the list', (turns) => ({ ...turns, leave: () => false })],
];
const PLANTS_OF_SHARES: [string, Plant][] = [
  ['an account that holds all places', (_, places) => createTurns(places, anyFree)],
  [
    'an end that hands on one place alone',
    (turns) => ({ ...turns, end: (account) => turns.end(account).slice(0, 1) }),
  ],
];

describe.each(SHARES)(
  'where an account may hold %s, the same arrivals find a planted bug',
  (_, share, mayHave) => {
    it.each(share === anyFree ? PLANTS : [...PLANTS, ...PLANTS_OF_SHARES])('%s', (_name, plant) => {
      const planted = () =>
        liveThrough({
          arrivals: ARRIVALS_OF_A_BUG,
          random: randomBy(7),
          mayHave,
          create: (places) => plant(createTurns(places, share), places),
        });
      expect(planted).toThrow(AssertionError);
    });
  },
);

test('what waits has its turn before what comes after it, also where the share has grown meanwhile', () => {
  let max = 1;
  const turns = createTurns<string>(10, (held) => held < max);
  expect(turns.take('a')).toBe(true);
  turns.wait('a', 'first');
  max = 3;
  expect(turns.take('a')).toBe(false);
  turns.wait('a', 'second');
  expect(turns.end('a')).toEqual(['first', 'second']);
});
