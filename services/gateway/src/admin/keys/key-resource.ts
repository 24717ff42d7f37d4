import type { StoredKey } from './keys.sql.ts';

/** A key as operators see it. `public_id` is the part of a leaked key that tells which one it is. */
export function toKeyResource(key: StoredKey): object {
  return {
    id: key.id,
    object: 'key',
    account_id: key.accountId,
    application_id: key.applicationId,
    public_id: key.publicId,
    name: key.name,
    scopes: key.scopes,
    suspended: key.suspended,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    requests_per_minute_max: key.limits.requests_per_minute_max,
    requests_in_flight_max: key.limits.requests_in_flight_max,
    created_at: key.createdAt.toISOString(),
  };
}
