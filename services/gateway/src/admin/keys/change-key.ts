import { UpdateKeyBody } from '@pixmesh/contracts/admin/admin-bodies';
import { readBody } from '@pixmesh/http/json-request';
import { explained } from '@pixmesh/http/refusal';
import type { ApiKeyId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyRequest } from 'fastify';

import { changedRequestLimits } from '#account/account-limits.ts';

import { recordChange } from '../audit/record-change.ts';
import { found, requirePathId } from '../read-request.ts';
import { toKeyResource } from './key-resource.ts';
import { lockKey, revokeKey, updateKey } from './keys.sql.ts';

/** Suspends, resumes, dates or limits a key. A revoked key stays as it is: `CONFLICT`. */
export async function changeKey(
  { db }: { db: Database },
  request: FastifyRequest,
): Promise<object> {
  const id = requirePathId(request) as ApiKeyId;
  return await db.transaction(async (tx) => {
    const before = found(await lockKey(tx, id));
    const body = readBody(UpdateKeyBody, request);
    if (before.revokedAt !== null) throw explained('CONFLICT', 'The key is revoked.');
    const after = {
      ...before,
      suspended: body.suspended ?? before.suspended,
      expiresAt: body.expires_at === undefined ? before.expiresAt : body.expires_at,
      limits: changedRequestLimits(body, before.limits),
    };
    await updateKey(tx, after);
    await recordChange(tx, {
      actor: request.actor,
      action: 'key.updated',
      target: { kind: 'key', id },
      before: toKeyResource(before),
      after: toKeyResource(after),
    });
    return toKeyResource(after);
  });
}

/** Revokes a key for good. A repeat finds it revoked and changes nothing. */
export async function removeKey(deps: { db: Database }, request: FastifyRequest): Promise<void> {
  const id = requirePathId(request) as ApiKeyId;
  await deps.db.transaction(async (tx) => {
    const before = found(await lockKey(tx, id));
    if (before.revokedAt !== null) return;
    const after = { ...before, revokedAt: await revokeKey(tx, id) };
    await recordChange(tx, {
      actor: request.actor,
      action: 'key.revoked',
      target: { kind: 'key', id },
      before: toKeyResource(before),
      after: toKeyResource(after),
    });
  });
}
