import type { Scope } from '@pixmesh/contracts/http/scopes';
import type { AccountId, ApiKeyId, ApplicationId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { LIMITS_COLUMNS, type StoredLimits } from '#account/account-limits.ts';
import { SETTINGS_COLUMNS, type SettingsRow } from '#account/account-settings.ts';

/** What one read finds about a presented key. Every field but `is_known` is null unless the key may be used. */
export type KeyRow = SettingsRow &
  StoredLimits & {
    /** Whether there is such a key, with this secret, usable or not. */
    is_known: boolean;
    key_id: ApiKeyId;
    digest: Buffer | null;
    scopes: Scope[];
    application_id: ApplicationId;
    account_id: AccountId;
    key_requests_per_minute_max: number | null;
    key_requests_in_flight_max: number | null;
  };

/** A key as a request shows it: its HMAC under the current pepper, and under the other one where there are two. */
export type PresentedKey = { publicId: string; digest: Buffer; otherDigest: Buffer | null };

/**
 * The one read of authentications: of each presented key in their order key, application, account, settings and limits,
 * by the unique index on `public_id` and two primary keys. A key may be used unless it is revoked, suspended or expired
 * by database time (decision 31), or its application is inactive. Always one row each, and the same empty one for an
 * unknown key as for one that may not be used or has another secret, but for a boolean: a fuller row takes 20 to 50 µs
 * more to read (measured), which would tell that its public id exists. Each refusal also takes the same steps: a search
 * for the key, and one for an application, whose row is read in any case: any other one stands in where there is none to
 * find. Neither ends at the row that it finds: a table of few pages is read whole, and where reading stopped would tell
 * that there is one. The digest is an HMAC
 * under the pepper, so how its comparison here takes its time tells nothing about a secret. The inner selects hide from
 * the planner how many keys are asked for: a plan for one key looks cheaper than the general one, so it would be made
 * anew for each request, at eight times its cost.
 */
export async function findUsableKeys(
  db: Queryable,
  presented: readonly PresentedKey[],
): Promise<KeyRow[]> {
  return await db.query<KeyRow>(
    named(
      'keys_find_usable',
      sql`
        select usable.*, known.key_id is not null as is_known
        from unnest(
          (select ${presented.map(({ publicId }) => publicId)}::text[]),
          (select ${presented.map(({ digest }) => digest)}::bytea[]),
          (select ${presented.map(({ otherDigest }) => otherDigest)}::bytea[])
        ) with ordinality as presented (public_id, digest, other_digest, place)
        left join lateral (
          select
            id as key_id, digest, scopes, requests_per_minute_max, requests_in_flight_max,
            case
              when revoked_at is null and not suspended and (expires_at is null or expires_at > now())
              then application_id
            end as usable_application_id
          from api_keys
          where api_keys.public_id = presented.public_id
            and api_keys.digest in (presented.digest, presented.other_digest)
          offset 0
        ) as known on true
        left join lateral (
          select id from applications order by id limit 1
        ) as stand_in on true
        left join lateral (
          select
            known.key_id, known.digest, known.scopes,
            applications.id as application_id, accounts.id as account_id, ${SETTINGS_COLUMNS},
            ${LIMITS_COLUMNS},
            known.requests_per_minute_max as key_requests_per_minute_max,
            known.requests_in_flight_max as key_requests_in_flight_max
          from applications
          join accounts on accounts.id = applications.account_id
          where applications.id = coalesce(known.usable_application_id, stand_in.id)
            and case when applications.active then applications.id end = known.usable_application_id
          offset 0
        ) as usable on true
        order by presented.place`,
    ),
  );
}

/** A key whose digest is under the other pepper, with its digests under both. */
export type KeyToRehash = { id: ApiKeyId; digest: Buffer; otherDigest: Buffer };

/**
 * By the primary key; false where another gateway was faster. A lookup sees the row before or after it, and accepts
 * both.
 */
export async function rehashKey(
  db: Queryable,
  key: KeyToRehash,
  version: number,
): Promise<boolean> {
  const rows = await db.query(
    named(
      'key_move',
      sql`
        update api_keys
        set digest = ${key.digest}, pepper_version = ${version}
        where id = ${key.id} and digest = ${key.otherDigest} and pepper_version < ${version}
        returning id`,
    ),
  );
  return rows.length === 1;
}
