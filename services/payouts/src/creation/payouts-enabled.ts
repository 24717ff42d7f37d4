import type { AccountSettings } from '@pixmesh/contracts/internal/caller-claims';

/**
 * Whether the account may pay out at all: the platform's switch, an active account, a finished onboarding
 * (decisions 37, 39, 116). Asked at creation and again at approval (decision 123).
 */
export function arePayoutsEnabled(settings: AccountSettings): boolean {
  return (
    settings.payouts_enabled &&
    settings.status === 'active' &&
    settings.onboarding_status === 'approved'
  );
}
