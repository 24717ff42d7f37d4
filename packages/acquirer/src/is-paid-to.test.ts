import { expect, test } from 'vitest';

import { isPaidTo } from './is-paid-to.ts';

test.each([
  ['our key', true],
  ['another key', false],
  [null, true],
])('a Pix that was paid to %s', (pixKey, isOurs) => {
  expect(isPaidTo({ pixKey }, 'our key')).toBe(isOurs);
});
