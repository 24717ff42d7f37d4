import { AMOUNT_CENTS_MAX, type Cents, toCents } from '@pixmesh/kernel/money';
import { z } from 'zod';

/** Money on the wire: a JSON integer of cents outside, `bigint` inside. */
export const WireCents = z.codec(z.int().min(0), z.bigint(), {
  decode: (wire): Cents => toCents(wire),
  encode: (cents) => Number(cents),
});

/** The amount of one movement, which has an upper bound as well (decision 21). */
export const WireAmount = z.codec(z.int().min(1).max(Number(AMOUNT_CENTS_MAX)), z.bigint(), {
  decode: (wire): Cents => toCents(wire),
  encode: (cents) => Number(cents),
});
