import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';
import { PixKeyType } from './payout.ts';

export const ChargeStatus = z.enum([
  'processing',
  'pending',
  'paid',
  'expired',
  'canceled',
  'failed',
  'refunded',
  'charged_back',
  'infraction',
]);
export type ChargeStatus = z.infer<typeof ChargeStatus>;

/** Kinds of bank account, as the acquirer names them. */
export const BankAccountType = z.enum(['checking', 'savings', 'payment', 'salary']);

/** Who receives the money; every inner field may be unknown (specification, charge; decision 104). */
export const Receiver = z.object({
  name: z.string().nullable(),
  document: z.string().nullable(),
  pix_key: z.string().nullable(),
  pix_key_type: PixKeyType.nullable(),
  institution_name: z.string().nullable(),
  institution_ispb: z.string().nullable(),
  branch: z.string().nullable(),
  account: z.string().nullable(),
  account_type: BankAccountType.nullable(),
});
export type Receiver = z.infer<typeof Receiver>;

/** The charge as every route and event shows it (specification, charge). Amounts in cents. */
export const Charge = z.object({
  id: z.uuid(),
  object: z.literal('charge'),
  status: ChargeStatus,
  amount: z.int().min(0).meta({ description: 'Cents.' }),
  currency: z.literal('BRL'),
  method: z.literal('pix'),
  description: z.string().nullable(),
  reference: z.string().nullable().meta({ description: "The caller's own identifier." }),
  customer: z
    .object({
      name: z.string(),
      email: z.string(),
      document: z.string().meta({ description: 'Without mask characters.' }),
    })
    .nullable(),
  pix: z.object({
    br_code: z
      .string()
      .nullable()
      .meta({ description: 'Pix copy-and-paste; the QR code is derived from it by the client.' }),
    end_to_end_id: z.string().nullable().meta({ description: 'Filled after payment.' }),
  }),
  receiver: Receiver.nullable().meta({
    description: 'Receiving account; null when the acquirer gives none.',
  }),
  refunded_amount: z.int().min(0).default(0).meta({
    description:
      'Cents that went back to the payer by refunds; the status changes with the last one.',
  }),
  webhook_url: z.string().nullable(),
  expires_at: Timestamp.nullable().meta({
    description: 'When the charge stops accepting payment.',
  }),
  paid_at: Timestamp.nullable().meta({ description: 'When the payment was made.' }),
  failure_reason: z
    .string()
    .nullable()
    .meta({ description: 'Set when status is `failed`, otherwise null.' }),
  created_at: Timestamp,
});
export type Charge = z.infer<typeof Charge>;
