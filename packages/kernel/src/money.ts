import assert from 'node:assert';

declare const centsBrand: unique symbol;

/** An amount of Brazilian reais in integer cents. Never a float, never negative by itself. */
export type Cents = bigint & { readonly [centsBrand]: true };

/** The greatest amount the acquirer's pattern `\d{1,10}\.\d{2}` can carry (decision 21). */
export const AMOUNT_CENTS_MAX = 999_999_999_999n;

/**
 * Takes an integer number of cents from a validated source.
 * @throws AssertionError when negative or not a whole number: that is a bug of the caller.
 */
export function toCents(value: bigint | number): Cents {
  assert(typeof value === 'bigint' || Number.isSafeInteger(value), 'cents must be an integer');
  const cents = BigInt(value);
  assert(cents >= 0n, 'cents must not be negative');
  return cents as Cents;
}
