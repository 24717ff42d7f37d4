import type { Account } from '@pixmesh/contracts/http/account';
import type { AccountSettings } from '@pixmesh/contracts/internal/caller-claims';
import type { AccountId } from '@pixmesh/kernel/ids';

import type { StoredLimits } from './account-limits.ts';

/** An account as the gateway stores it. */
export type StoredAccount = {
  id: AccountId;
  name: string;
  legalName: string;
  document: string;
  documentType: 'cpf' | 'cnpj';
  phone: string;
  settings: AccountSettings;
  limits: StoredLimits;
  /** Counts the announcements of its limits. */
  limitsVersion: number;
  createdAt: Date;
};

/** The account record as merchants see it (specification, account). */
export function toAccount(account: StoredAccount): Account {
  return {
    id: account.id,
    object: 'account',
    name: account.name,
    legal_name: account.legalName,
    document: account.document,
    document_type: account.documentType,
    phone: account.phone,
    status: account.settings.status,
    onboarding_status: account.settings.onboarding_status,
    auto_payout_enabled: account.settings.auto_payout_enabled,
    created_at: account.createdAt.toISOString(),
  };
}
