import { expect, test } from 'vitest';

import { foundOrNull } from './found-or-null.ts';

test('a look-up that did not answer is not “not found”', () => {
  expect(foundOrNull({ kind: 'found', value: 1 })).toBe(1);
  expect(foundOrNull({ kind: 'not_found' })).toBeNull();
  expect(() => foundOrNull({ kind: 'unknown', cause: 'timeout' })).toThrow('look-up unknown');
});
