import { randomBytes, timingSafeEqual } from 'node:crypto';

import type { Scope } from '@pixmesh/contracts/http/scopes';
import type { AccountSettings } from '@pixmesh/contracts/internal/caller-claims';
import { generateApiKey, hashApiKey, parseApiKey } from '@pixmesh/kernel/api-key';
import type { AccountId, ApiKeyId, ApplicationId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { RequestLimits } from '#account/account-limits.ts';
import { toSettings } from '#account/account-settings.ts';
import { readHeader } from '#edge/read-header.ts';

import type { KeyRow } from './find-keys.sql.ts';
import { createKeyLookups } from './key-lookups.ts';
import type { Peppers } from './peppers.ts';
import { createRehashKey } from './rehash-key.ts';

const DIGEST_BYTES = 32;

/** On whose behalf a request is made, as the database had it at that moment. */
export type Caller = {
  accountId: AccountId;
  applicationId: ApplicationId;
  keyId: ApiKeyId;
  scopes: readonly Scope[];
  settings: AccountSettings;
  limits: { account: RequestLimits; key: RequestLimits };
};

/**
 * Who calls; or no caller, and the public id of a key that there is and that may not be used. That is not to be learned
 * from outside.
 */
type Authenticated = { caller: Caller } | { caller: null; refusedKey: string | null };

/** No caller for every key that is not accepted, for whatever reason. */
export type AuthenticateKey = (rawHeaders: readonly string[]) => Promise<Authenticated>;

/**
 * Verifies the `x-api-key` header. Nothing is cached, so a revocation or a limit holds from the next request. Each
 * refusal takes the same steps (a digest for each pepper, one read, one comparison for each), so that neither answer
 * nor time tells which one it was. An inactive account still authenticates (decision 38).
 */
export function createKeyAuthenticator(deps: {
  db: Database;
  peppers: Peppers;
  logger: Logger;
}): AuthenticateKey {
  const { current, other } = deps.peppers;
  // Stands in for a key that is missing or malformed; its public id belongs to no row.
  const dummy = generateApiKey();
  const dummyDigest = randomBytes(DIGEST_BYTES);
  const lookUp = createKeyLookups(deps.db);
  const rehashKey = createRehashKey(deps);
  return async (rawHeaders) => {
    const presented = readPresentedKey(rawHeaders) ?? dummy;
    const digest = hashApiKey(current.bytes, presented.key);
    const otherDigest = other && hashApiKey(other.bytes, presented.key);
    const row = await lookUp({ publicId: presented.publicId, digest, otherDigest });
    const stored = row.digest ?? dummyDigest;
    const isUnderOther = otherDigest !== null && timingSafeEqual(otherDigest, stored);
    if (!timingSafeEqual(digest, stored) && !isUnderOther) {
      return { caller: null, refusedKey: row.is_known ? presented.publicId : null };
    }
    if (isUnderOther) rehashKey({ id: row.key_id, digest, otherDigest });
    return { caller: toCaller(row) };
  };
}

function toCaller(row: KeyRow): Caller {
  return {
    accountId: row.account_id,
    applicationId: row.application_id,
    keyId: row.key_id,
    scopes: row.scopes,
    settings: toSettings(row),
    limits: {
      account: {
        requests_per_minute_max: row.requests_per_minute_max,
        requests_in_flight_max: row.requests_in_flight_max,
      },
      key: {
        requests_per_minute_max: row.key_requests_per_minute_max,
        requests_in_flight_max: row.key_requests_in_flight_max,
      },
    },
  };
}

function readPresentedKey(rawHeaders: readonly string[]): { key: string; publicId: string } | null {
  const header = readHeader(rawHeaders, 'x-api-key');
  if (header.kind !== 'one') return null;
  const parsed = parseApiKey(header.value);
  return parsed && { key: header.value, publicId: parsed.publicId };
}
