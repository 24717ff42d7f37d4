import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import type { Receiver } from '@pixmesh/contracts/http/charge';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { deadlineFrom } from '@pixmesh/http/deadline';
import { tenantOf } from '@pixmesh/http/internal-auth';
import { readJsonBody } from '@pixmesh/http/json-request';
import { AppError } from '@pixmesh/kernel/app-error';
import type { ChargeId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';

import { toChargeResource } from '#charge/charge-resource.ts';

import { answerCreated } from '@pixmesh/http/answer-created';
import { createCharge, type CreateChargeDeps } from './create-charge.ts';

type RouteDeps = CreateChargeDeps & { receiver: Receiver; requestTimeoutMs: number };

export function registerCreateCharge(app: FastifyInstance, deps: RouteDeps): void {
  const route = PUBLIC_ROUTES.createCharge;
  app.post(route.path, async (request, reply) => {
    const caller = tenantOf(request);
    if (caller.creation_id === null)
      throw new AppError('UNAUTHORIZED', { message: 'no creation id' });
    const created = await createCharge(deps, {
      id: caller.creation_id as ChargeId,
      accountId: caller.account_id,
      requester: { source: 'api', applicationId: caller.application_id },
      settings: caller.settings,
      readBody: () => readJsonBody(request),
      deadline: deadlineFrom(request.headers[INTERNAL_HEADERS.timeoutMs], deps.requestTimeoutMs),
    });
    return answerCreated(reply, created, toChargeResource(created.charge, deps.receiver));
  });
}
