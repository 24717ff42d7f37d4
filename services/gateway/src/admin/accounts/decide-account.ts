import { AppError } from '@pixmesh/kernel/app-error';
import type { AccountSettings } from '@pixmesh/contracts/internal/caller-claims';
import { normalizeDocument } from '@pixmesh/kernel/documents';
import type { AccountId } from '@pixmesh/kernel/ids';

import type { StoredAccount } from '#account/account.ts';
import { changedLimit, changedRequestLimits } from '#account/account-limits.ts';

import type {
  CreateAccountBody,
  UpdateAccountBody,
} from '@pixmesh/contracts/admin/admin-account-bodies';

/** The account that a valid body asks for. @throws AppError `INVALID_DOCUMENT` */
export function newAccount(
  id: AccountId,
  body: CreateAccountBody,
): Omit<StoredAccount, 'createdAt' | 'limits' | 'limitsVersion'> {
  const { name, legal_name: legalName, document, phone, ...given } = body;
  const settings = enforce({ ...given, endpoints_max: null });
  return { id, name, legalName, phone, ...readDocument(document), settings };
}

/**
 * What a change makes of an account, and whether its limits are announced.
 * @throws AppError `INVALID_DOCUMENT`
 */
export function decideAccount(
  before: StoredAccount,
  body: UpdateAccountBody,
): { after: StoredAccount; isAnnounced: boolean } {
  const isAnnounced = announcesLimits(body);
  const limitsVersion = before.limitsVersion + (isAnnounced ? 1 : 0);
  return { after: { ...changedAccount(before, body), limitsVersion }, isAnnounced };
}

function changedAccount(account: StoredAccount, body: UpdateAccountBody): StoredAccount {
  const { settings, limits } = account;
  return {
    ...account,
    name: body.name ?? account.name,
    legalName: body.legal_name ?? account.legalName,
    phone: body.phone ?? account.phone,
    ...(body.document === null ? {} : readDocument(body.document)),
    settings: enforce({
      status: body.status ?? settings.status,
      onboarding_status: body.onboarding_status ?? settings.onboarding_status,
      auto_payout_enabled: body.auto_payout_enabled ?? settings.auto_payout_enabled,
      payouts_enabled: body.payouts_enabled ?? settings.payouts_enabled,
      payout_fee: body.payout_fee ?? settings.payout_fee,
      charge_expires_in: body.charge_expires_in ?? settings.charge_expires_in,
      release_delay_seconds: body.release_delay_seconds ?? settings.release_delay_seconds,
      late_payment_policy: body.late_payment_policy ?? settings.late_payment_policy,
      endpoints_max: changedLimit(body.endpoints_max, settings.endpoints_max),
    }),
    limits: {
      ...changedRequestLimits(body, limits),
      deliveries_per_second_max: changedLimit(
        body.deliveries_per_second_max,
        limits.deliveries_per_second_max,
      ),
    },
  };
}

/** Also where nothing changes by it: so an operator can have a limit announced again. */
function announcesLimits(body: UpdateAccountBody): boolean {
  return body.deliveries_per_second_max !== undefined;
}

/** A rejected account is inactive, whatever was asked for (decision 39). */
function enforce(settings: AccountSettings): AccountSettings {
  return settings.onboarding_status === 'rejected' ? { ...settings, status: 'inactive' } : settings;
}

function readDocument(text: string): Pick<StoredAccount, 'document' | 'documentType'> {
  const document = normalizeDocument(text);
  if (document === null) throw new AppError('INVALID_DOCUMENT', { details: ['document'] });
  return { document: document.number, documentType: document.kind };
}
