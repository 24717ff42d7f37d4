import { AMOUNT_CENTS_MAX, type Cents, toCents } from '@pixmesh/kernel/money';
import { z } from 'zod';

/**
 * The amount of one movement on the wire: a JSON integer of cents outside, `bigint` inside, with the upper bound
 * of the acquirer's pattern (decision 21).
 */
export const WireAmount = wireCents(1);

/** An amount that may be nothing, such as a fee. */
export const WireCents = wireCents(0);

/** A balance on the wire, which a forced debit may take below zero (decision 137). */
export const WireBalance = z.codec(z.int(), z.bigint(), {
  decode: (wire) => BigInt(wire),
  encode: (cents) => Number(cents),
});

function wireCents(min: number) {
  return z.codec(z.int().min(min).max(Number(AMOUNT_CENTS_MAX)), z.bigint(), {
    decode: (wire): Cents => toCents(wire),
    encode: (cents) => Number(cents),
  });
}
