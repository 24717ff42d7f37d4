import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';

export const AccountStatus = z.enum(['active', 'inactive']);
export const OnboardingStatus = z.enum(['pending', 'in_review', 'approved', 'rejected']);
export const LatePaymentPolicy = z.enum(['accept', 'suspense']);

/** The account record (specification, account). */
export const Account = z.object({
  id: z.uuid(),
  object: z.literal('account'),
  name: z.string(),
  legal_name: z.string(),
  document: z.string(),
  document_type: z.enum(['cpf', 'cnpj']),
  phone: z.string(),
  status: AccountStatus,
  onboarding_status: OnboardingStatus,
  auto_payout_enabled: z.boolean(),
  created_at: Timestamp,
});
export type Account = z.infer<typeof Account>;
