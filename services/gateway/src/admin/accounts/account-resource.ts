import { type StoredAccount, toAccount } from '#account/account.ts';

/** The account as operators see it: the public record and the settings that merchants do not. */
export function toAccountResource(account: StoredAccount): object {
  const { settings, limits } = account;
  return {
    ...toAccount(account),
    payouts_enabled: settings.payouts_enabled,
    payout_fee: settings.payout_fee,
    charge_expires_in: settings.charge_expires_in,
    release_delay_seconds: settings.release_delay_seconds,
    late_payment_policy: settings.late_payment_policy,
    requests_per_minute_max: limits.requests_per_minute_max,
    requests_in_flight_max: limits.requests_in_flight_max,
    endpoints_max: settings.endpoints_max,
    deliveries_per_second_max: limits.deliveries_per_second_max,
  };
}
