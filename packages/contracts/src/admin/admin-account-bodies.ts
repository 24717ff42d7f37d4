import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import { z } from 'zod';

import { AccountStatus, LatePaymentPolicy, OnboardingStatus } from '../http/account.ts';
import { EXPIRES_IN_SECONDS_MAX, EXPIRES_IN_SECONDS_MIN } from '../http/create-charge-body.ts';
import { orDefault, orNull } from '../http/optional-field.ts';
import { adminName } from './admin-name.ts';
import { LimitField } from './limit-field.ts';

/** One year. */
const RELEASE_DELAY_SECONDS_MAX = 31_536_000;
/** E.164, or empty where none is known (decision 41). */
const PHONE_PATTERN = /^(\+[1-9]\d{1,14})?$/;

const name = adminName();
// Check digits have a code of their own and are checked once the shape holds (decision 13).
const document = z.string();
const phone = z.string().regex(PHONE_PATTERN, {
  error: 'expected a phone number with + and country code, or an empty text',
});
const payoutFee = z.int().min(0).max(Number(AMOUNT_CENTS_MAX));
const chargeExpiresIn = z.int().min(EXPIRES_IN_SECONDS_MIN).max(EXPIRES_IN_SECONDS_MAX);
const releaseDelay = z.int().min(0).max(RELEASE_DELAY_SECONDS_MAX);

/** `POST /admin/accounts`, with the defaults of a new account. */
export const CreateAccountBody = z.object({
  name,
  legal_name: name,
  document,
  phone: orDefault(phone, ''),
  status: orDefault(AccountStatus, 'active'),
  onboarding_status: orDefault(OnboardingStatus, 'pending'),
  auto_payout_enabled: orDefault(z.boolean(), false),
  payouts_enabled: orDefault(z.boolean(), true),
  payout_fee: orDefault(payoutFee, 0),
  charge_expires_in: orDefault(chargeExpiresIn, 86_400),
  release_delay_seconds: orDefault(releaseDelay, 0),
  late_payment_policy: orDefault(LatePaymentPolicy, 'accept'),
});
export type CreateAccountBody = z.output<typeof CreateAccountBody>;

/** `PATCH /admin/accounts/{id}`: absent and null leave a field as it is (decision 7); a limit is removed by null. */
export const UpdateAccountBody = z.object({
  name: orNull(name),
  legal_name: orNull(name),
  document: orNull(document),
  phone: orNull(phone),
  status: orNull(AccountStatus),
  onboarding_status: orNull(OnboardingStatus),
  auto_payout_enabled: orNull(z.boolean()),
  payouts_enabled: orNull(z.boolean()),
  payout_fee: orNull(payoutFee),
  charge_expires_in: orNull(chargeExpiresIn),
  release_delay_seconds: orNull(releaseDelay),
  late_payment_policy: orNull(LatePaymentPolicy),
  requests_per_minute_max: LimitField,
  requests_in_flight_max: LimitField,
  endpoints_max: LimitField,
  deliveries_per_second_max: LimitField,
});
export type UpdateAccountBody = z.output<typeof UpdateAccountBody>;
