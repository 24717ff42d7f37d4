import type { RefusedConnection } from '@pixmesh/http/client-error';
import type { Answered } from '@pixmesh/http/service-app';
import { currentTraceId } from '@pixmesh/telemetry/tracing';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { requestIdOf } from '#edge/stamp-answers.ts';

import type { RequestLog } from './request-log.ts';

/** Records each request of a listener once, refused ones and those that their client left included. */
export function recordRequests(log: RequestLog) {
  return {
    onAnswered: (request: FastifyRequest, reply: FastifyReply, answered: Answered): void =>
      log.record({
        caller: request.caller,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: answered.status,
        durationMs: Math.round(answered.durationMs),
        requestId: requestIdOf(reply),
        traceId: currentTraceId(),
        idempotencyMismatch: request.idempotencyMismatch,
      }),
    /** Of what was no request yet, neither a method nor a route can be named. */
    onRefused: ({ requestId, status }: RefusedConnection): void =>
      log.record({
        caller: null,
        method: null,
        route: null,
        status,
        durationMs: 0,
        requestId,
        traceId: null,
        idempotencyMismatch: false,
      }),
  };
}
