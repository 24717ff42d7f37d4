import { z } from 'zod';

/** The balance of an account in cents; `total` = `available` + `pending`, all from one read (decision 140). */
export const Balance = z.object({
  object: z.literal('balance'),
  currency: z.literal('BRL'),
  available: z.int(),
  pending: z.int(),
  total: z.int(),
  blocked: z.int(),
});
export type Balance = z.infer<typeof Balance>;
