import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { parseId } from '@pixmesh/kernel/ids';
import { runForRequest } from '@pixmesh/telemetry/request-id';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The id of a request, or null where it has none. */
export type RequestIdOf = (request: FastifyRequest, reply: FastifyReply) => string | null;

/** Has all that is done for a request know its id; the framework goes on in this context once it has read the body. */
export function enterRequests(app: FastifyInstance, requestIdOf: RequestIdOf): void {
  app.addHook('onRequest', (request, reply, done) => {
    const id = parseId(requestIdOf(request, reply) ?? '');
    if (id === null) done();
    else runForRequest(id, done);
  });
}

/** As the caller of an internal listener names the request that it works for. */
export function receivedRequestId({ headers }: FastifyRequest): string | null {
  const id = headers[INTERNAL_HEADERS.requestId];
  return typeof id === 'string' ? id : null;
}
