import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';

export const DisputeStatus = z.enum(['open', 'under_review', 'won', 'lost']);
export type DisputeStatus = z.infer<typeof DisputeStatus>;

/** Why the payer contests, as the acquirer words it (decision 192). */
export const DisputeReason = z.enum([
  'scam',
  'account_takeover',
  'coercion',
  'fraudulent_access',
  'operational_flaw',
  'other',
]);

/** The dispute as its events show it; no route serves it (specification, Events; decisions 188 to 195). */
export const Dispute = z.object({
  id: z.uuid(),
  object: z.literal('dispute'),
  charge_id: z.uuid(),
  status: DisputeStatus.meta({
    description: 'A `won` dispute may still become `lost`; `lost` is final.',
  }),
  method: z.literal('pix'),
  amount: z.int().min(0).meta({
    description: 'Cents that are disputed: blocked, as far as that much of the Pix is left.',
  }),
  returned_amount: z.int().min(0).meta({ description: 'Cents that went back to the payer.' }),
  currency: z.literal('BRL'),
  reference: z.string().nullable().meta({ description: "The charge's own reference." }),
  reason: DisputeReason,
  arrived_resolved: z.boolean().meta({
    description: 'Whether the dispute was decided before it was announced.',
  }),
  message: z
    .string()
    .optional()
    .meta({ description: 'Text of the platform, in `dispute.pix.message` only.' }),
  opened_at: Timestamp,
  defense_deadline_at: Timestamp,
  resolved_at: Timestamp.nullable(),
});
export type Dispute = z.infer<typeof Dispute>;
