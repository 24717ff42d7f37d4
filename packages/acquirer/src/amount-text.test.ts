import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  formatAmountText,
  formatBalanceText,
  parseAmountText,
  parseBalanceText,
} from './amount-text.ts';

describe('amount text', () => {
  it('survives the way to the acquirer and back for every amount', () => {
    const amounts = fc.bigInt({ min: 0n, max: AMOUNT_CENTS_MAX });
    fc.assert(
      fc.property(amounts, (cents) => {
        expect(parseAmountText(formatAmountText(cents))).toBe(cents);
      }),
    );
  });

  it.each([
    [1n, '0.01'],
    [100n, '1.00'],
    [12_345n, '123.45'],
    [AMOUNT_CENTS_MAX, '9999999999.99'],
  ])('writes %s cents as %s', (cents, text) => {
    expect(formatAmountText(cents)).toBe(text);
  });

  it.each([
    '',
    '1',
    '1.0',
    '1.000',
    '1,00',
    '-1.00',
    '+1.00',
    ' 1.00',
    '1.00\n',
    '1e2.00',
    '10000000000.00',
    '١.٠٠',
  ])('refuses %j', (text) => {
    expect(parseAmountText(text)).toBeNull();
  });

  it('treats an amount that cannot be written as a bug', () => {
    expect(() => formatAmountText(-1n)).toThrow('amount out of range');
    expect(() => formatAmountText(AMOUNT_CENTS_MAX + 1n)).toThrow('amount out of range');
  });
});

describe('balance text', () => {
  it('survives the way to the acquirer and back for every balance of either sign', () => {
    const max = 10n ** 17n - 1n;
    fc.assert(
      fc.property(fc.bigInt({ min: -max, max }), (cents) => {
        expect(parseBalanceText(formatBalanceText(cents))).toBe(cents);
      }),
    );
  });

  it.each([
    [0n, '0.00'],
    [-1n, '-0.01'],
    [-12_345n, '-123.45'],
    [1_000_000_000_000n, '10000000000.00'],
  ])('writes %s cents as %s', (cents, text) => {
    expect(formatBalanceText(cents)).toBe(text);
  });

  it.each(['', '1', '+1.00', '--1.00', '1.0', '- 1.00', '1,00', '1.00\n', `${'9'.repeat(16)}.00`])(
    'refuses %j',
    (text) => {
      expect(parseBalanceText(text)).toBeNull();
    },
  );
});
