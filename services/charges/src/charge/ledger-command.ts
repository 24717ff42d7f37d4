import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';

/** The owner that the ledger has for the platform's own money; commands of it keep their order under it (decision 141). */
export const PLATFORM_ACCOUNT_ID = '00000000-0000-7000-8000-000000000000';

/** Whose money a command moves; null: the platform's. */
export type MoneyOwner = { accountId: AccountId | null; applicationId?: ApplicationId | null };

/**
 * Key and envelope of one ledger command. Commands of an owner stay in order; they are no events of a charge and take
 * no number of its.
 */
export function ledgerOrder({ accountId, applicationId = null }: MoneyOwner) {
  return {
    place: { key: accountId ?? PLATFORM_ACCOUNT_ID, sequence: null },
    envelope: {
      event_id: newId(),
      version: 1 as const,
      occurred_at: new Date().toISOString(),
      account_id: accountId,
      application_id: applicationId,
    },
  };
}
