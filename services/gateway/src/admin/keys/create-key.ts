import { CreateKeyBody } from '@pixmesh/contracts/admin/admin-bodies';
import { type CreatedOnce, createOnce } from '@pixmesh/http/create-once';
import { readBody } from '@pixmesh/http/json-request';
import { generateApiKey, hashApiKey } from '@pixmesh/kernel/api-key';
import type { ApiKeyId, ApplicationId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyRequest } from 'fastify';

import type { Pepper } from '#authentication/peppers.ts';

import { findApplication } from '../applications/applications.sql.ts';
import { recordChange } from '../audit/record-change.ts';
import { fingerprintOf, readAdminCreationId } from '../creation-id.ts';
import { found, requirePathId } from '../read-request.ts';
import { toKeyResource } from './key-resource.ts';
import { findStoredKey, insertKey, type StoredKey } from './keys.sql.ts';

/** `pepper`: the one under which keys are made. */
export type KeyDeps = { db: Database; pepper: Pepper };

/**
 * Makes a key for an application. The key itself exists in the first answer alone: what is stored is its
 * digest, so a repeat under the same `Idempotency-Key` can only name it.
 */
export async function createKey(
  { db, pepper }: KeyDeps,
  request: FastifyRequest,
): Promise<CreatedOnce<StoredKey> & { key: string | null }> {
  const application = found(await findApplication(db, requirePathId(request) as ApplicationId));
  const creation = readAdminCreationId(request, application.accountId, 'key');
  const id = creation.id as ApiKeyId;
  const { key, publicId } = generateApiKey();
  const outcome = await createOnce(creation.repeatable, {
    find: () => findStoredKey(db, id),
    readBody: () => readBody(CreateKeyBody, request),
    fingerprint: (body) => fingerprintOf(application.id, body),
    insert: ({ name, scopes, expires_at: expiresAt }, fingerprint) =>
      db.transaction(async (tx) => {
        const digest = hashApiKey(pepper.bytes, key);
        const applicationId = application.id;
        const values = {
          id,
          applicationId,
          publicId,
          digest,
          pepperVersion: pepper.version,
          name,
          scopes,
          expiresAt,
          fingerprint,
        };
        const stored = await insertKey(tx, values);
        if (stored === null) return null;
        await recordChange(tx, {
          actor: request.actor,
          action: 'key.created',
          target: { kind: 'key', id },
          before: null,
          after: toKeyResource(stored),
        });
        return stored;
      }),
  });
  return { ...outcome, key: outcome.replayed ? null : key };
}
