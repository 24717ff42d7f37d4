import { expect, test } from 'vitest';

import { measureInTurns } from './measure-in-turns.ts';
import { seededRandom, shuffled } from './seeded-random.ts';

test('every kind is sent once a round, in an order that changes, and only rounds after the warm-up count', async () => {
  const order: string[] = [];
  const aKind = (name: string, ms: number) => ({
    name,
    send: async () => {
      order.push(name);
      return ms;
    },
  });
  const kinds = [aKind('a', 1), aKind('b', 2), aKind('c', 3)];
  const times = await measureInTurns(kinds, { rounds: 60, random: seededRandom(1) });
  expect([...times]).toEqual([
    ['a', Array.from({ length: 60 }, () => 1)],
    ['b', Array.from({ length: 60 }, () => 2)],
    ['c', Array.from({ length: 60 }, () => 3)],
  ]);
  const rounds = Array.from({ length: order.length / 3 }, (_, round) =>
    order.slice(3 * round, 3 * round + 3).join(''),
  );
  expect(rounds.every((round) => [...round].toSorted().join('') === 'abc')).toBe(true);
  expect(new Set(rounds).size).toBe(6);
});

test('a seed repeats its numbers, another one does not, and a shuffle loses nothing', () => {
  const draw = (seed: number) => shuffled([1, 2, 3, 4, 5, 6, 7, 8], seededRandom(seed));
  expect(draw(3)).toEqual(draw(3));
  expect(draw(3)).not.toEqual(draw(4));
  expect(draw(3).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
