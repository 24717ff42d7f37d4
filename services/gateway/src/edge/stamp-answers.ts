import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import { newId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyReply } from 'fastify';

/**
 * Gives every answer of a listener its request id and forbids caching it. This happens on the server and not
 * in a hook, because the framework answers ill-formed URLs without running any hook.
 */
export function stampAnswers(app: FastifyInstance): void {
  app.server.prependListener('request', (_request, response) => {
    response.setHeader(ANSWER_HEADERS.requestId, newId());
    response.setHeader('cache-control', 'no-store');
  });
}

/** The id that the answer carries; a client's own is never taken over. */
export function requestIdOf(reply: FastifyReply): string {
  return String(reply.raw.getHeader(ANSWER_HEADERS.requestId));
}
