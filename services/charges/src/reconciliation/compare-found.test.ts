import { expect, test } from 'vitest';

import { createCompareFound } from './compare-found.ts';

const AWAY = { kind: 'unknown', cause: 'timeout' } as const;
const FOUND = { kind: 'found', value: 'theirs' } as const;

function compareAll(lookups: readonly (typeof AWAY | typeof FOUND)[]): void {
  const compareFound = createCompareFound();
  for (const [index, lookup] of lookups.entries()) compareFound(`${index}`, lookup, () => []);
}

test('an item without an answer is one difference, and the others are compared', () => {
  const compareFound = createCompareFound();
  expect(compareFound('a', AWAY, () => [])).toEqual([
    { kind: 'unavailable', id: 'a', found: 'timeout' },
  ]);
  const differs = () => [{ kind: 'state', id: 'b' } as const];
  expect(compareFound('b', FOUND, differs)).toEqual(differs());
});

test('twenty in succession without an answer, or a hundred in all, fail the check', () => {
  const some = Array.from({ length: 19 }, () => AWAY);
  expect(() => compareAll([...some, FOUND, ...some])).not.toThrow();
  expect(() => compareAll([...some, AWAY])).toThrow('look-up unknown: timeout');
  const everySecond = Array.from({ length: 99 }, () => [FOUND, AWAY]).flat();
  expect(() => compareAll(everySecond)).not.toThrow();
  expect(() => compareAll([...everySecond, AWAY])).toThrow('look-up unknown: timeout');
});
