import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { CallerClaims } from '@pixmesh/contracts/internal/service-token';
import { runForAccount } from '@pixmesh/fair-share/current-account';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { VerifyToken } from './service-token.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `requireServiceToken`; null for a call that a service makes for itself. */
    callerClaims: CallerClaims | null;
  }
}

/** Refuses every request of this listener that does not carry a valid token of a peer; the others run for their account. */
export function requireServiceToken(app: FastifyInstance, verify: VerifyToken): void {
  app.decorateRequest('callerClaims', null);
  app.addHook('onRequest', async (request) => {
    const token = request.headers[INTERNAL_HEADERS.token];
    request.callerClaims = await verify(typeof token === 'string' ? token : undefined);
  });
  app.addHook('onRequest', ({ callerClaims }, _reply, done) => {
    if (callerClaims === null) done();
    else runForAccount(callerClaims.account_id, done);
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
