import { expect, test } from 'vitest';

import { plainArray } from './plain-array.ts';

test.each([
  ['nothing', [], '{}'],
  ['a null first', [null, 'a'], '{null,a}'],
  ['words, numbers and cents', ['a', 1, -2n], '{a,1,-2}'],
])('%s', (_name, words, text) => {
  expect(plainArray(words)).toBe(text);
});
