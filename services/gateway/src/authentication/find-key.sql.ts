import type { Scope } from '@pixmesh/contracts/http/scopes';
import type { AccountId, ApiKeyId, ApplicationId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { SETTINGS_COLUMNS, type SettingsRow } from '#account/account-settings.ts';

/** What one read says about a presented key. Every field is null where no such key exists. */
export type KeyRow = SettingsRow & {
  key_id: ApiKeyId;
  digest: Buffer | null;
  scopes: Scope[];
  application_id: ApplicationId;
  account_id: AccountId;
  /** Not revoked, suspended or expired, and its application is active; by database time (decision 31). */
  usable: boolean | null;
};

/**
 * The one read of an authentication: key, application, account and settings, by the unique index on
 * `public_id` and two primary keys. Always one row, also for an unknown key, so that both cost alike.
 */
export async function findKey(db: Queryable, publicId: string): Promise<KeyRow> {
  const [row] = await db.query<KeyRow>(
    named(
      'key_find',
      sql`
        select
          api_keys.id as key_id, api_keys.digest, api_keys.scopes,
          applications.id as application_id, accounts.id as account_id, ${SETTINGS_COLUMNS},
          api_keys.revoked_at is null
            and not api_keys.suspended
            and (api_keys.expires_at is null or api_keys.expires_at > now())
            and applications.active as usable
        from (values (${publicId}::text)) as presented (public_id)
        left join api_keys using (public_id)
        left join applications on applications.id = api_keys.application_id
        left join accounts on accounts.id = applications.account_id`,
    ),
  );
  return row as KeyRow;
}
