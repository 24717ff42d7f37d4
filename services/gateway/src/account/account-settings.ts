import type { AccountSettings } from '@pixmesh/contracts/internal/caller-claims';
import { sql } from '@pixmesh/postgres/sql';

/** The columns of `accounts` that travel with every request. */
export const SETTINGS_COLUMNS = sql`
  accounts.status, accounts.onboarding_status, accounts.auto_payout_enabled, accounts.payouts_enabled,
  accounts.payout_fee, accounts.charge_expires_in, accounts.release_delay_seconds,
  accounts.late_payment_policy, accounts.endpoints_max`;

export type SettingsRow = Omit<AccountSettings, 'payout_fee'> & { payout_fee: bigint };

export function toSettings(row: SettingsRow): AccountSettings {
  return {
    status: row.status,
    onboarding_status: row.onboarding_status,
    auto_payout_enabled: row.auto_payout_enabled,
    payouts_enabled: row.payouts_enabled,
    payout_fee: Number(row.payout_fee),
    charge_expires_in: row.charge_expires_in,
    release_delay_seconds: row.release_delay_seconds,
    late_payment_policy: row.late_payment_policy,
    endpoints_max: row.endpoints_max,
  };
}
