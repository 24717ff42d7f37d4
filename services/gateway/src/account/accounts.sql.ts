import type { ListAccountsQuery } from '@pixmesh/contracts/admin/admin-queries';
import type { PageFor } from '@pixmesh/http/list-page';
import type { AccountId } from '@pixmesh/kernel/ids';
import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { StoredAccount } from './account.ts';
import { LIMITS_COLUMNS, type StoredLimits } from './account-limits.ts';
import { SETTINGS_COLUMNS, type SettingsRow, toSettings } from './account-settings.ts';

const COLUMNS = sql`
  accounts.id, accounts.name, accounts.legal_name as "legalName", accounts.document,
  accounts.document_type as "documentType", accounts.phone, accounts.created_at as "createdAt",
  accounts.limits_version as "limitsVersion", ${SETTINGS_COLUMNS}, ${LIMITS_COLUMNS}`;

export async function findAccount(db: Queryable, id: AccountId): Promise<StoredAccount | null> {
  const rows = await db.query<AccountRow>(
    named('account_find', sql`select ${COLUMNS} from accounts where id = ${id}`),
  );
  return rows[0] ? toStoredAccount(rows[0]) : null;
}

/** Locks the row, so that the change that follows is based on what is stored. */
export async function lockAccount(tx: Transaction, id: AccountId): Promise<StoredAccount | null> {
  const rows = await tx.query<AccountRow>(
    named('account_lock', sql`select ${COLUMNS} from accounts where id = ${id} for update`),
  );
  return rows[0] ? toStoredAccount(rows[0]) : null;
}

/** Without limits: they are set afterwards. */
export async function insertAccount(
  tx: Transaction,
  account: Omit<StoredAccount, 'createdAt' | 'limits' | 'limitsVersion'>,
): Promise<StoredAccount> {
  const { settings } = account;
  const [row] = await tx.query<AccountRow>(
    named(
      'account_insert',
      sql`
        insert into accounts (
          id, name, legal_name, document, document_type, phone, status, onboarding_status,
          auto_payout_enabled, payouts_enabled, payout_fee, charge_expires_in,
          release_delay_seconds, late_payment_policy
        )
        values (
          ${account.id}, ${account.name}, ${account.legalName}, ${account.document},
          ${account.documentType}, ${account.phone}, ${settings.status},
          ${settings.onboarding_status}, ${settings.auto_payout_enabled},
          ${settings.payouts_enabled}, ${settings.payout_fee}, ${settings.charge_expires_in},
          ${settings.release_delay_seconds}, ${settings.late_payment_policy}
        )
        returning ${COLUMNS}`,
    ),
  );
  return toStoredAccount(row as AccountRow);
}

/** Writes every field of an account that `lockAccount` holds, with the events that its change makes. */
export async function updateAccount(
  tx: Transaction,
  account: StoredAccount,
  events: readonly OutboundEvent[],
): Promise<void> {
  const { settings, limits } = account;
  await tx.query(
    named(
      'account_update',
      sql`
        with updated as (
          update accounts
          set name = ${account.name}, legal_name = ${account.legalName},
            document = ${account.document}, document_type = ${account.documentType},
            phone = ${account.phone}, status = ${settings.status},
            onboarding_status = ${settings.onboarding_status},
            auto_payout_enabled = ${settings.auto_payout_enabled},
            payouts_enabled = ${settings.payouts_enabled}, payout_fee = ${settings.payout_fee},
            charge_expires_in = ${settings.charge_expires_in},
            release_delay_seconds = ${settings.release_delay_seconds},
            late_payment_policy = ${settings.late_payment_policy},
            endpoints_max = ${settings.endpoints_max},
            requests_per_minute_max = ${limits.requests_per_minute_max},
            requests_in_flight_max = ${limits.requests_in_flight_max},
            deliveries_per_second_max = ${limits.deliveries_per_second_max},
            limits_version = ${account.limitsVersion}
          where id = ${account.id}
          returning id
        ),
        ${appendEvents(sql`select from updated`, events)}
        select from updated`,
    ),
  );
}

/** Newest first, after the account `startingAfter`; reads `accounts_newest`. */
export async function listAccounts(
  db: Queryable,
  { limit, startingAfter, filters }: PageFor<typeof ListAccountsQuery>,
): Promise<StoredAccount[]> {
  const rows = await db.query<AccountRow>(
    named(
      'account_list',
      sql`
        select ${COLUMNS}
        from accounts
        where (${startingAfter}::uuid is null or (created_at, id) < (
            select created_at, id from accounts where id = ${startingAfter}::uuid
          ))
          and (${filters.status}::text is null or status = ${filters.status})
          and (${filters.onboarding_status}::text is null or onboarding_status = ${filters.onboarding_status})
          and (${filters.document}::text is null or document = ${filters.document})
        order by created_at desc, id desc
        limit ${limit}`,
    ),
  );
  return rows.map(toStoredAccount);
}

type AccountRow = SettingsRow & StoredLimits & Omit<StoredAccount, 'settings' | 'limits'>;

function toStoredAccount(row: AccountRow): StoredAccount {
  const { id, name, legalName, document, documentType, phone, createdAt, limitsVersion } = row;
  const account = { id, name, legalName, document, documentType, phone, createdAt, limitsVersion };
  const { requests_per_minute_max, requests_in_flight_max, deliveries_per_second_max } = row;
  const limits = { requests_per_minute_max, requests_in_flight_max, deliveries_per_second_max };
  return { ...account, settings: toSettings(row), limits };
}
