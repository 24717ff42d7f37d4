import { z } from 'zod';

/** The balance of an account in cents; `total` = `available` + `pending`, all from one read (decision 140). */
export const Balance = z.object({
  object: z.literal('balance'),
  currency: z.literal('BRL'),
  available: z.int().meta({
    description: 'Cents that can be spent now, after payouts in progress.',
  }),
  pending: z.int().meta({ description: 'Cents received and not yet released.' }),
  total: z.int().meta({ description: '`available` + `pending`.' }),
  blocked: z.int().meta({ description: 'Cents of open disputes; no part of the total.' }),
});
export type Balance = z.infer<typeof Balance>;
