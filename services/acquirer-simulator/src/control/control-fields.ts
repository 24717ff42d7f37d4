import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import { z } from 'zod';

/** Cents that a body of the control API names. */
export const Cents = centsFrom(1);
/** As `Cents`, or nothing at all. */
export const CentsOrNothing = centsFrom(0);

/** An end-to-end id, or another id of a Pix, as somebody may make one up. */
export const PixId = z.string().regex(/^[!-~]{1,64}$/);

/** `natureza` of a return. */
export const Nature = z.string().regex(/^[A-Z_]{1,40}$/);

function centsFrom(least: number) {
  return z.int().min(least).max(Number(AMOUNT_CENTS_MAX)).transform(BigInt);
}

/** A field that may be left out. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? null);
}
