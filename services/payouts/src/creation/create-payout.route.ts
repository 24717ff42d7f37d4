import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { deadlineFrom } from '@pixmesh/http/deadline';
import { tenantOf } from '@pixmesh/http/internal-auth';
import { readJsonBody } from '@pixmesh/http/json-request';
import { AppError } from '@pixmesh/kernel/app-error';
import type { PayoutId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';

import { toPayoutResource } from '#payouts/payout-resource.ts';

import { answerCreated } from '@pixmesh/http/answer-created';
import { createPayout, type CreatePayoutDeps } from './create-payout.ts';

type RouteDeps = CreatePayoutDeps & { requestTimeoutMs: number };

export function registerCreatePayout(app: FastifyInstance, deps: RouteDeps): void {
  app.post(PUBLIC_ROUTES.createPayout.path, async (request, reply) => {
    const caller = tenantOf(request);
    if (caller.creation_id === null) {
      throw new AppError('UNAUTHORIZED', { message: 'no creation id' });
    }
    const created = await createPayout(deps, {
      id: caller.creation_id as PayoutId,
      accountId: caller.account_id,
      requester: { source: 'api', applicationId: caller.application_id },
      settings: caller.settings,
      readBody: () => readJsonBody(request),
      deadline: deadlineFrom(request.headers[INTERNAL_HEADERS.timeoutMs], deps.requestTimeoutMs),
    });
    return answerCreated(reply, created, toPayoutResource(created.payout));
  });
}
