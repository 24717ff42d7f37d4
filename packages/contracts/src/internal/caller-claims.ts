import type { AccountId, ApiKeyId, ApplicationId } from '@pixmesh/kernel/ids';
import { z } from 'zod';

import { AccountStatus, LatePaymentPolicy, OnboardingStatus } from '../http/account.ts';
import { idOf, OperatorIdField } from './id-fields.ts';

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
  /** Null: no limit, as in claims of gateways that know of none. */
  endpoints_max: z.int().min(1).nullable().default(null),
});
export type AccountSettings = z.infer<typeof AccountSettings>;

/** On whose behalf the gateway calls: the tenant comes from here and from nowhere else. */
export const TenantClaims = z.object({
  account_id: idOf<AccountId>(),
  application_id: idOf<ApplicationId>(),
  key_id: idOf<ApiKeyId>(),
  request_id: z.string(),
  settings: AccountSettings,
  /** On creations: the id derived from the `Idempotency-Key` (ADR 0001). */
  creation_id: z.uuid().nullable(),
});
export type TenantClaims = z.infer<typeof TenantClaims>;

const PURPOSE_LENGTH_MAX = 200;

/** The operator for whom the gateway calls, and the route of `/admin` that was asked for. */
export const OperatorClaims = z.object({
  operator_id: OperatorIdField,
  purpose: z.string().max(PURPOSE_LENGTH_MAX),
});
export type OperatorClaims = z.infer<typeof OperatorClaims>;

/** What the header of claims holds, of the gateway alone (decision 257). */
export const Claims = z.union([
  z.object({ tenant: TenantClaims }),
  z.object({ operator: OperatorClaims }),
]);
export type Claims = z.infer<typeof Claims>;
