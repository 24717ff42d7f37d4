import type { ListKeysInUseQuery } from '@pixmesh/contracts/admin/admin-queries';
import type { Scope } from '@pixmesh/contracts/http/scopes';
import type { PageFor } from '@pixmesh/http/list-page';
import type { AccountId, ApiKeyId, ApplicationId } from '@pixmesh/kernel/ids';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { RequestLimits } from '#account/account-limits.ts';

/** A key as operators see it: everything but the key. */
export type StoredKey = {
  id: ApiKeyId;
  accountId: AccountId;
  applicationId: ApplicationId;
  publicId: string;
  name: string;
  scopes: Scope[];
  suspended: boolean;
  expiresAt: Date | null;
  revokedAt: Date | null;
  limits: RequestLimits;
  fingerprint: Buffer;
  createdAt: Date;
};

const COLUMNS = sql`
  api_keys.id, applications.account_id as "accountId", api_keys.application_id as "applicationId",
  api_keys.public_id as "publicId", api_keys.name, api_keys.scopes, api_keys.suspended,
  api_keys.expires_at as "expiresAt", api_keys.revoked_at as "revokedAt",
  jsonb_build_object(
    'requests_per_minute_max', api_keys.requests_per_minute_max,
    'requests_in_flight_max', api_keys.requests_in_flight_max
  ) as limits, api_keys.fingerprint,
  api_keys.created_at as "createdAt"`;

export async function findStoredKey(db: Queryable, id: ApiKeyId): Promise<StoredKey | null> {
  const rows = await db.query<StoredKey>(
    named(
      'key_find_by_id',
      sql`
        select ${COLUMNS}
        from api_keys
        join applications on applications.id = api_keys.application_id
        where api_keys.id = ${id}`,
    ),
  );
  return rows[0] ?? null;
}

export async function lockKey(tx: Transaction, id: ApiKeyId): Promise<StoredKey | null> {
  const rows = await tx.query<StoredKey>(
    named(
      'key_lock',
      sql`
        select ${COLUMNS}
        from api_keys
        join applications on applications.id = api_keys.application_id
        where api_keys.id = ${id}
        for update of api_keys`,
    ),
  );
  return rows[0] ?? null;
}

/** Null when the id is taken: then the same `Idempotency-Key` has made it before. */
export async function insertKey(
  tx: Transaction,
  key: Pick<StoredKey, 'id' | 'applicationId' | 'publicId' | 'name' | 'scopes' | 'expiresAt'> & {
    digest: Buffer;
    pepperVersion: number;
    fingerprint: Buffer;
  },
): Promise<StoredKey | null> {
  const rows = await tx.query<StoredKey>(
    named(
      'key_insert',
      sql`
        with api_keys as (
          insert into api_keys
            (id, application_id, public_id, digest, pepper_version, name, scopes, expires_at, fingerprint)
          values (
            ${key.id}, ${key.applicationId}, ${key.publicId}, ${key.digest}, ${key.pepperVersion},
            ${key.name}, ${key.scopes}, ${key.expiresAt}, ${key.fingerprint}
          )
          on conflict on constraint api_keys_pkey do nothing
          returning *
        )
        select ${COLUMNS}
        from api_keys
        join applications on applications.id = api_keys.application_id`,
    ),
  );
  return rows[0] ?? null;
}

export async function updateKey(
  tx: Transaction,
  key: Pick<StoredKey, 'id' | 'suspended' | 'expiresAt' | 'limits'>,
): Promise<void> {
  await tx.query(
    named(
      'key_update',
      sql`
        update api_keys
        set suspended = ${key.suspended}, expires_at = ${key.expiresAt},
          requests_per_minute_max = ${key.limits.requests_per_minute_max},
          requests_in_flight_max = ${key.limits.requests_in_flight_max}
        where id = ${key.id} and revoked_at is null`,
    ),
  );
}

/** Takes effect with the commit: from then on no request is accepted with it. */
export async function revokeKey(tx: Transaction, id: ApiKeyId): Promise<Date> {
  const [row] = await tx.query<{ revoked_at: Date }>(
    named(
      'key_revoke',
      sql`
        update api_keys
        set revoked_at = now()
        where id = ${id} and revoked_at is null
        returning revoked_at`,
    ),
  );
  return (row as { revoked_at: Date }).revoked_at;
}

/** Keys of an account with limits of their own that are not revoked, newest first. Reads `api_keys_limited`. */
export async function listLimitedKeys(
  db: Queryable,
  { accountId, limit }: { accountId: AccountId; limit: number },
): Promise<StoredKey[]> {
  return await db.query<StoredKey>(
    named(
      'key_list_limited',
      sql`
        select ${COLUMNS}
        from api_keys
        join applications on applications.id = api_keys.application_id
        where applications.account_id = ${accountId}
          and (api_keys.requests_per_minute_max is not null or api_keys.requests_in_flight_max is not null)
          and api_keys.revoked_at is null
        order by api_keys.created_at desc, api_keys.id desc
        limit ${limit}`,
    ),
  );
}

/** Newest first over the installation, without revoked ones; reads `api_keys_in_use`. */
export async function listKeysInUse(
  db: Queryable,
  page: PageFor<typeof ListKeysInUseQuery> & { pepperVersion: number },
): Promise<StoredKey[]> {
  return await db.query<StoredKey>(
    named(
      'key_list_in_use',
      sql`
        select ${COLUMNS}
        from api_keys
        join applications on applications.id = api_keys.application_id
        where api_keys.revoked_at is null
          and (${page.filters.pepper}::text is null
            or (${page.filters.pepper} = 'old') = (api_keys.pepper_version <> ${page.pepperVersion}::int))
          and (${page.startingAfter}::uuid is null or (api_keys.created_at, api_keys.id) < (
            select created_at, id from api_keys where id = ${page.startingAfter}::uuid
          ))
        order by api_keys.created_at desc, api_keys.id desc
        limit ${page.limit}`,
    ),
  );
}

/** Newest first within one application, revoked ones included; reads `api_keys_newest`. */
export async function listKeys(
  db: Queryable,
  applicationId: ApplicationId,
  page: { limit: number; startingAfter: string | null },
): Promise<StoredKey[]> {
  return await db.query<StoredKey>(
    named(
      'key_list',
      sql`
        select ${COLUMNS}
        from api_keys
        join applications on applications.id = api_keys.application_id
        where api_keys.application_id = ${applicationId}
          and (${page.startingAfter}::uuid is null or (api_keys.created_at, api_keys.id) < (
            select created_at, id
            from api_keys
            where id = ${page.startingAfter}::uuid and application_id = ${applicationId}
          ))
        order by api_keys.created_at desc, api_keys.id desc
        limit ${page.limit}`,
    ),
  );
}
