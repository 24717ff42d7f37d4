import type { FastifyInstance } from 'fastify';

import { requestIdOf } from '#edge/stamp-answers.ts';

import type { RequestLog } from './request-log.ts';

/** Records each request of this listener once it was answered, refused ones included. */
export function recordRequests(app: FastifyInstance, log: RequestLog): void {
  app.addHook('onResponse', async (request, reply) => {
    log.record({
      caller: request.caller,
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime),
      requestId: requestIdOf(reply),
      idempotencyMismatch: request.idempotencyMismatch,
    });
  });
}
