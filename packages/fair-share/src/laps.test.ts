import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { createLaps } from './laps.ts';

function lapsOf(items: readonly (readonly [account: string, item: number])[]) {
  const laps = createLaps<number>();
  for (const [account, item] of items) laps.add(account, item);
  return laps;
}

test('one of each account comes, then a second one of each, in their order', () => {
  const laps = lapsOf([
    ['many', 1],
    ['many', 2],
    ['many', 3],
    ['few', 4],
    ['few', 5],
    ['one', 6],
  ]);
  expect(laps.take(10)).toEqual([1, 4, 6, 2, 5, 3]);
  expect([laps.size(), laps.take(10)]).toEqual([0, []]);
});

test('what is taken next goes on behind the account that had the last turn', () => {
  const laps = lapsOf([
    ['many', 1],
    ['many', 2],
    ['few', 3],
    ['one', 4],
  ]);
  expect(laps.take(1)).toEqual([1]);
  laps.add('late', 5);
  expect(laps.take(2)).toEqual([3, 4]);
  expect([laps.take(2), laps.size()]).toEqual([[2, 5], 0]);
});

test('nothing is lost or taken twice, an account keeps its order, and none is two turns ahead of one that waits', () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ add: fc.constantFrom('a', 'b', 'c', 'd') }),
      fc.record({ take: fc.integer({ min: 1, max: 5 }) }),
    ),
  );
  fc.assert(
    fc.property(steps, (life) => {
      const laps = createLaps<[string, number]>();
      const waiting = new Map<string, number[]>();
      /** How often others had a turn while an account waited, since it had one itself. */
      let passedOver = new Map<string, Map<string, number>>();
      for (const [place, step] of life.entries()) {
        if ('add' in step) {
          laps.add(step.add, [step.add, place]);
          waiting.set(step.add, [...(waiting.get(step.add) ?? []), place]);
          continue;
        }
        const taken = laps.take(step.take);
        expect(taken).toHaveLength(Math.min(step.take, [...waiting.values()].flat().length));
        for (const [account, item] of taken) {
          const [oldest, ...rest] = waiting.get(account) ?? [];
          expect(item).toBe(oldest);
          waiting.set(account, rest);
          passedOver = new Map([...passedOver].filter(([name]) => name !== account));
          for (const [other, items] of waiting) {
            if (other === account || items.length === 0) continue;
            const turns = passedOver.get(other) ?? new Map<string, number>();
            turns.set(account, (turns.get(account) ?? 0) + 1);
            expect(turns.get(account)).toBeLessThanOrEqual(1);
            passedOver.set(other, turns);
          }
        }
      }
      expect(laps.size()).toBe([...waiting.values()].flat().length);
    }),
  );
});
