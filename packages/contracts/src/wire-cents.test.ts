import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { WireAmount, WireBalance } from './wire-cents.ts';

test('money is a bigint inside and the same integer outside', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: AMOUNT_CENTS_MAX }), (cents) => {
      const wire = z.encode(WireAmount, cents);
      expect(JSON.stringify(wire)).toBe(String(cents));
      expect(WireAmount.parse(wire)).toBe(cents);
    }),
  );
});

test.each([1.5, '100', null, 2 ** 53, Number.NaN])('%s is no money on the wire', (wire) => {
  expect(WireBalance.safeParse(wire).success).toBe(false);
  expect(WireAmount.safeParse(wire).success).toBe(false);
});

test('an amount is at least one cent and at most what the acquirer can carry', () => {
  expect(WireAmount.safeParse(0).success).toBe(false);
  expect(WireAmount.safeParse(-1).success).toBe(false);
  expect(WireAmount.safeParse(Number(AMOUNT_CENTS_MAX)).success).toBe(true);
  expect(WireAmount.safeParse(Number(AMOUNT_CENTS_MAX) + 1).success).toBe(false);
});

test('a balance may be zero, and below it', () => {
  expect(WireBalance.parse(0)).toBe(0n);
  expect(z.encode(WireBalance, WireBalance.parse(-5))).toBe(-5);
});

test('an integer that a JSON number cannot hold is never written to the wire', () => {
  expect(() => z.encode(WireAmount, 0n)).toThrow('Too small');
  expect(() => z.encode(WireBalance, 2n ** 53n)).toThrow('Too big');
});
