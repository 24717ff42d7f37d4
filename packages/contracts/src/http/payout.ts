import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';

export const PayoutStatus = z.enum(['pending', 'processing', 'completed', 'failed', 'canceled']);
export type PayoutStatus = z.infer<typeof PayoutStatus>;

/** The public words for the types of Pix key (specification, `POST /v1/payouts`). */
export const PixKeyType = z.enum(['cpf', 'cnpj', 'email', 'phone', 'random']);
export type PixKeyType = z.infer<typeof PixKeyType>;

/** The payout as every route shows it (specification, payout). Amounts in cents. */
export const Payout = z.object({
  id: z.uuid(),
  object: z.literal('payout'),
  status: PayoutStatus,
  method: z.literal('pix'),
  amount: z.int().min(0).meta({ description: 'Cents, without fee.' }),
  fee: z.int().min(0).meta({ description: 'Cents; leaves the balance together with the amount.' }),
  currency: z.literal('BRL'),
  description: z.string().nullable(),
  reference: z.string().nullable().meta({ description: "The caller's own identifier." }),
  recipient: z.object({
    name: z.string().nullable(),
    document: z.string().nullable(),
    pix_key_type: PixKeyType,
    pix_key: z.string().meta({ description: 'As it was sent.' }),
  }),
  end_to_end_id: z
    .string()
    .nullable()
    .meta({ description: 'Settlement id, available once `completed`.' }),
  failure_reason: z
    .string()
    .nullable()
    .meta({ description: 'Set when status is `failed`, otherwise null.' }),
  webhook_url: z.string().nullable(),
  processed_at: Timestamp.nullable().meta({ description: 'When it was sent to the acquirer.' }),
  created_at: Timestamp,
});
export type Payout = z.infer<typeof Payout>;

/** The payout as its events show it: the same fields, named `payment` (decision 181). */
export const PaymentSnapshot = Payout.extend({ object: z.literal('payment') });
export type PaymentSnapshot = z.infer<typeof PaymentSnapshot>;
