import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import { newId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyReply } from 'fastify';

/**
 * Gives every answer of a listener its request id, forbids caching it and taking it for another type than it names; and
 * asks browsers to come by HTTPS alone, where that is configured. This happens on the server and not in a hook, because
 * the framework answers ill-formed URLs without running any hook.
 */
export function stampAnswers(app: FastifyInstance, hstsMaxAgeSeconds: number | null): void {
  app.server.prependListener('request', (_request, response) => {
    response.setHeader(ANSWER_HEADERS.requestId, newId());
    response.setHeader('cache-control', 'no-store');
    response.setHeader('x-content-type-options', 'nosniff');
    if (hstsMaxAgeSeconds === null) return;
    response.setHeader('strict-transport-security', `max-age=${hstsMaxAgeSeconds}`);
  });
}

/** The id that the answer carries; a client's own is never taken over. */
export function requestIdOf(reply: FastifyReply): string {
  return String(reply.raw.getHeader(ANSWER_HEADERS.requestId));
}
