import type { AccountId, ApiKeyId, ApplicationId } from '@pixmesh/kernel/ids';
import { z } from 'zod';

import { AccountStatus, LatePaymentPolicy, OnboardingStatus } from '../http/account.ts';
import { idOf } from './id-fields.ts';

/** Settings of an account that owners of resources decide by; read fresh with every request. */
export const AccountSettings = z.object({
  status: AccountStatus,
  onboarding_status: OnboardingStatus,
  auto_payout_enabled: z.boolean(),
  payouts_enabled: z.boolean(),
  /** Cents. */
  payout_fee: z.int().min(0),
  /** Seconds. */
  charge_expires_in: z.int(),
  release_delay_seconds: z.int().min(0),
  late_payment_policy: LatePaymentPolicy,
  /** Null: no limit, as in tokens of gateways that know of none. */
  endpoints_max: z.int().min(1).nullable().default(null),
});
export type AccountSettings = z.infer<typeof AccountSettings>;

/** Who calls, on whose behalf: the tenant comes from here and from nowhere else. */
export const CallerClaims = z.object({
  account_id: idOf<AccountId>(),
  application_id: idOf<ApplicationId>(),
  key_id: idOf<ApiKeyId>(),
  request_id: z.string(),
  settings: AccountSettings,
  /** On creations: the id derived from the `Idempotency-Key` (ADR 0001). */
  creation_id: z.uuid().nullable(),
});
export type CallerClaims = z.infer<typeof CallerClaims>;

/** Services that call or are called inside the mesh; each signs with its own key. */
export const ServiceName = z.enum([
  'gateway',
  'charges',
  'payouts',
  'ledger',
  'webhook-dispatcher',
]);
export type ServiceName = z.infer<typeof ServiceName>;
