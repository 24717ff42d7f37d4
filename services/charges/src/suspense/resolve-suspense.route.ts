import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import {
  RESOLVE_SUSPENSE_PATH,
  ResolveSuspenseRequest,
  type SuspenseResolution,
} from '@pixmesh/contracts/internal/suspense';
import { readBody } from '@pixmesh/http/json-request';
import { operatorOf } from '@pixmesh/http/internal-auth';
import { readPathId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';

import { resolveSuspense, type ResolveSuspenseDeps } from './resolve-suspense.ts';
import type { Resolution } from './resolutions.sql.ts';

const ACCEPTED = 202;

/** Called by the gateway for operators: a call with the claims of a tenant is refused. */
export function registerResolveSuspense(app: FastifyInstance, deps: ResolveSuspenseDeps): void {
  app.post(RESOLVE_SUSPENSE_PATH, async (request, reply) => {
    const itemId = readPathId((request.params as { id: string }).id);
    const asked = {
      ...readBody(ResolveSuspenseRequest, request),
      operatorId: operatorOf(request).operator_id,
    };
    const { resolution, repeated } = await resolveSuspense(deps, itemId, asked);
    if (repeated) reply.header(ANSWER_HEADERS.replayed, 'true');
    return reply.code(ACCEPTED).send(toResource(resolution));
  });
}

function toResource(resolution: Resolution): SuspenseResolution {
  return {
    id: resolution.id,
    object: 'suspense_resolution',
    action: resolution.action,
    account_id: resolution.accountId ?? resolution.ownerId,
    amount: Number(resolution.amount),
    status: resolution.status,
    failure_reason: resolution.failureReason,
  };
}
