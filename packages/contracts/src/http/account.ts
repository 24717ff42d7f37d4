import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';

export const DocumentType = z.enum(['cpf', 'cnpj']);
export const AccountStatus = z.enum(['active', 'inactive']);
export const OnboardingStatus = z.enum(['pending', 'in_review', 'approved', 'rejected']);
export const LatePaymentPolicy = z.enum(['accept', 'suspense']);

/** The account record (specification, account). */
export const Account = z.object({
  id: z.uuid(),
  object: z.literal('account'),
  name: z.string(),
  legal_name: z.string(),
  document: z.string().meta({ description: 'CPF or CNPJ without mask characters.' }),
  document_type: DocumentType,
  phone: z.string(),
  status: AccountStatus.meta({
    description: 'An inactive account takes no new charges.',
  }),
  onboarding_status: OnboardingStatus.meta({
    description: 'Payouts are refused until it is `approved`.',
  }),
  auto_payout_enabled: z.boolean().meta({
    description: 'Whether payouts go straight to processing or to the approval queue.',
  }),
  created_at: Timestamp,
});
export type Account = z.infer<typeof Account>;
