import type { AccountId } from '@pixmesh/kernel/ids';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { StoredAccount } from './account.ts';
import { SETTINGS_COLUMNS, type SettingsRow, toSettings } from './account-settings.ts';

const COLUMNS = sql`
  accounts.id, accounts.name, accounts.legal_name, accounts.document, accounts.document_type,
  accounts.phone, accounts.created_at, ${SETTINGS_COLUMNS}`;

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

export async function insertAccount(
  tx: Transaction,
  account: Omit<StoredAccount, 'createdAt'>,
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

/** Writes every field of an account that `lockAccount` holds. */
export async function updateAccount(tx: Transaction, account: StoredAccount): Promise<void> {
  const { settings } = account;
  await tx.query(
    named(
      'account_update',
      sql`
        update accounts
        set name = ${account.name}, legal_name = ${account.legalName},
          document = ${account.document}, document_type = ${account.documentType},
          phone = ${account.phone}, status = ${settings.status},
          onboarding_status = ${settings.onboarding_status},
          auto_payout_enabled = ${settings.auto_payout_enabled},
          payouts_enabled = ${settings.payouts_enabled}, payout_fee = ${settings.payout_fee},
          charge_expires_in = ${settings.charge_expires_in},
          release_delay_seconds = ${settings.release_delay_seconds},
          late_payment_policy = ${settings.late_payment_policy}
        where id = ${account.id}`,
    ),
  );
}

/** Newest first, after the account `startingAfter`; reads `accounts_newest`. */
export async function listAccounts(
  db: Queryable,
  page: {
    limit: number;
    startingAfter: string | null;
    status: string | null;
    onboardingStatus: string | null;
    document: string | null;
  },
): Promise<StoredAccount[]> {
  const rows = await db.query<AccountRow>(
    named(
      'account_list',
      sql`
        select ${COLUMNS}
        from accounts
        where (${page.startingAfter}::uuid is null or (created_at, id) < (
            select created_at, id from accounts where id = ${page.startingAfter}::uuid
          ))
          and (${page.status}::text is null or status = ${page.status})
          and (${page.onboardingStatus}::text is null or onboarding_status = ${page.onboardingStatus})
          and (${page.document}::text is null or document = ${page.document})
        order by created_at desc, id desc
        limit ${page.limit}`,
    ),
  );
  return rows.map(toStoredAccount);
}

type AccountRow = SettingsRow & {
  id: AccountId;
  name: string;
  legal_name: string;
  document: string;
  document_type: 'cpf' | 'cnpj';
  phone: string;
  created_at: Date;
};

function toStoredAccount(row: AccountRow): StoredAccount {
  return {
    id: row.id,
    name: row.name,
    legalName: row.legal_name,
    document: row.document,
    documentType: row.document_type,
    phone: row.phone,
    settings: toSettings(row),
    createdAt: row.created_at,
  };
}
