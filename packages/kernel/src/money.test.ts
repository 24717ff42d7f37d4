import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { toCents } from './money.ts';

test('whole numbers of cents are taken exactly', () => {
  fc.assert(
    fc.property(fc.nat(), (cents) => {
      expect(toCents(cents)).toBe(BigInt(cents));
      expect(toCents(BigInt(cents))).toBe(BigInt(cents));
    }),
  );
});

test.each([0.5, -1, -1n, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
  '%s is no amount: a bug of the caller',
  (value) => {
    expect(() => toCents(value)).toThrow(/cents must/);
  },
);
