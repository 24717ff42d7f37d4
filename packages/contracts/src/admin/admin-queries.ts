import { z } from 'zod';

import { AccountStatus, OnboardingStatus } from '../http/account.ts';
import { InstantText, UpperInstantText } from '../http/instant-text.ts';
import { QueryId, QueryText } from '../http/query-fields.ts';
import { DeadLetterFilters } from '../internal/dead-letters.ts';

/** Services that park messages; the word in the address is the service's name. */
export const DeadLetterService = z.enum([
  'charges',
  'payouts',
  'ledger',
  'webhook-dispatcher',
  'gateway',
]);
export type DeadLetterService = z.infer<typeof DeadLetterService>;

/** Filters of the lists under `/admin`, beside paging. */

export const ListOperatorsQuery = z.object({});

export const ListAuditQuery = z.object({
  actor: QueryText.optional(),
  action: QueryText.optional(),
  target_id: QueryText.optional(),
});

export const ListAccountsQuery = z.object({
  status: AccountStatus.optional(),
  onboarding_status: OnboardingStatus.optional(),
  document: QueryText.optional(),
});

export const ListApplicationsQuery = z.object({
  active: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
});

export const ListKeysQuery = z.object({});

export const ListKeysInUseQuery = z.object({
  pepper: z.enum(['current', 'old'], { error: 'expected current or old' }).optional(),
});

export const ListRequestsQuery = z.object({
  account_id: QueryId.optional(),
  application_id: QueryId.optional(),
  key_id: QueryId.optional(),
  request_id: QueryId.optional(),
  method: QueryText.optional(),
  route: QueryText.optional(),
  status: z
    .string()
    .regex(/^\d{3}$/, { error: 'expected an HTTP status' })
    .transform(Number)
    .optional(),
  created_after: InstantText.optional(),
  created_before: UpperInstantText.optional(),
});

export const ListDeadLettersQuery = z.object({
  service: DeadLetterService.optional(),
  ...DeadLetterFilters.shape,
});

export const ListRefundsQuery = z.object({});

export const ListJournalsQuery = z.object({});

export const ListSuspenseQuery = z.object({
  account_id: QueryId.optional(),
  status: z.enum(['open', 'resolved']).optional(),
});

/** Not a list: balances at an instant, now where it is absent. */
export const BalancesQuery = z.object({ at: InstantText.nullable().default(null) });
