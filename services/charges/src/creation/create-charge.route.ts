import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import type { Receiver } from '@pixmesh/contracts/http/charge';
import { ANSWER_HEADERS, INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { AppError } from '@pixmesh/kernel/app-error';
import { deadlineFrom } from '@pixmesh/http/deadline';
import { callerOf } from '@pixmesh/http/internal-auth';
import { readJsonBody } from '@pixmesh/http/json-request';
import type { FastifyInstance } from 'fastify';

import { toChargeResource } from '#charges/charge-resource.ts';

import { createCharge } from './create-charge.ts';

type RouteDeps = Parameters<typeof createCharge>[0] & {
  receiver: Receiver;
  requestTimeoutMs: number;
};

export function registerCreateCharge(app: FastifyInstance, deps: RouteDeps): void {
  const route = PUBLIC_ROUTES.createCharge;
  app.post(route.path, async (request, reply) => {
    const { creation_id, ...caller } = callerOf(request);
    if (creation_id === null) throw new AppError('UNAUTHORIZED', { message: 'no creation id' });
    const created = await createCharge(deps, {
      caller: { ...caller, creation_id },
      readBody: () => readJsonBody(request),
      deadline: deadlineFrom(request.headers[INTERNAL_HEADERS.timeoutMs], deps.requestTimeoutMs),
    });
    if (created.replayed) reply.header(ANSWER_HEADERS.replayed, 'true');
    if (created.mismatch) reply.header(ANSWER_HEADERS.mismatch, 'true');
    return reply.code(route.status).send(toChargeResource(created.charge, deps.receiver));
  });
}
