import type { RefusedConnection } from '@pixmesh/http/client-error';
import type { Answered } from '@pixmesh/http/service-app';
import { currentTraceId } from '@pixmesh/telemetry/tracing';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { plainAddress } from '#edge/addresses.ts';
import { requestIdOf } from '#edge/stamp-answers.ts';
import { countUnauthenticated } from '#reports.ts';

import type { RequestLog } from './request-log.ts';
import { createUnauthenticatedSample } from './sample-unauthenticated.ts';

type ToRecord = Parameters<RequestLog['record']>[0] & { refusedKey: string | null };

/**
 * Records each request of a listener once, refused ones and those that their client left included. Of requests without
 * an accepted key it counts all and records a sample; those with a key that is revoked, suspended, expired or of an
 * inactive application have a sample of their own, which requests without a known key do not fill.
 */
export function recordRequests(log: RequestLog) {
  const isSampled = createUnauthenticatedSample(() => performance.now());
  const isSampledOfKey = createUnauthenticatedSample(() => performance.now());
  return {
    onAnswered: (request: FastifyRequest, reply: FastifyReply, answered: Answered): void =>
      record({
        caller: request.caller,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: answered.status,
        durationMs: Math.round(answered.durationMs),
        requestId: requestIdOf(reply),
        clientAddress: request.clientAddress,
        traceId: currentTraceId(),
        idempotencyMismatch: request.idempotencyMismatch,
        refusedKey: request.refusedKey,
      }),
    /** Of what was no request yet, neither a method nor a route can be named. */
    onRefused: ({ requestId, status, peer }: RefusedConnection): void =>
      record({
        caller: null,
        method: null,
        route: null,
        status,
        durationMs: 0,
        requestId,
        clientAddress: plainAddress(peer),
        traceId: null,
        idempotencyMismatch: false,
        refusedKey: null,
      }),
  };

  function record({ refusedKey, ...request }: ToRecord): void {
    const { caller, clientAddress, status } = request;
    const isStored =
      caller !== null ||
      (refusedKey === null ? isSampled(clientAddress) : isSampledOfKey(refusedKey));
    if (caller === null) countUnauthenticated({ status, stored: isStored });
    if (isStored) log.record(request);
  }
}
