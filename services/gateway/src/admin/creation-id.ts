import { createHash } from 'node:crypto';

import { deriveResourceId, newId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';

import { readOptionalIdempotencyKey } from '#authentication/read-idempotency-key.ts';

/** The id of a creation, from the `Idempotency-Key` where one was sent (ADR 0001, decision 229). */
export function readAdminCreationId(
  request: FastifyRequest,
  accountId: string,
  resource: 'application' | 'key' | 'payout' | 'charge' | 'recovery',
): { id: string; repeatable: boolean } {
  const key = readOptionalIdempotencyKey(request.raw.rawHeaders);
  if (key === null) return { id: newId(), repeatable: false };
  return { id: deriveResourceId(accountId, resource, key), repeatable: true };
}

/** Digest of a normalised body and the parent it is for. */
export function fingerprintOf(parentId: string, body: object): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([parentId, body]))
    .digest();
}
