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

import type { Resolution } from './resolutions.sql.ts';
import { resolveSuspense, type ResolveSuspenseDeps } from './resolve-suspense.ts';

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

function toResource({ id, accountId, amount, isCompleted }: Resolution): SuspenseResolution {
  return {
    id,
    object: 'suspense_resolution',
    action: 'accept',
    account_id: accountId,
    amount: Number(amount),
    status: isCompleted ? 'completed' : 'processing',
    failure_reason: null,
  };
}
