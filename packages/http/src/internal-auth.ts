import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { CallerClaims } from '@pixmesh/contracts/internal/service-token';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { VerifyToken } from './service-token.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `requireServiceToken`; null for a call that a service makes for itself. */
    callerClaims: CallerClaims | null;
  }
}

/** Refuses every request of this listener that does not carry a valid token of a peer. */
export function requireServiceToken(app: FastifyInstance, verify: VerifyToken): void {
  app.decorateRequest('callerClaims', null);
  app.addHook('onRequest', async (request) => {
    const token = request.headers[INTERNAL_HEADERS.token];
    request.callerClaims = await verify(typeof token === 'string' ? token : undefined);
  });
}

/**
 * The tenant on whose behalf the request is made.
 * @throws AppError `UNAUTHORIZED` when a service calls a tenant's route for itself
 */
export function callerOf(request: FastifyRequest): CallerClaims {
  if (request.callerClaims === null) throw new AppError('UNAUTHORIZED');
  return request.callerClaims;
}
