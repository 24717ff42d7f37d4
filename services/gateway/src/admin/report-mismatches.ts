import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';

import { requestIdOf } from '#edge/stamp-answers.ts';
import { reportMismatch } from '#reports.ts';

/**
 * Reports each creation under `/admin` that repeats a key with another body, as `/v1` does (decision 42): by the
 * answer, so that it holds for what the gateway creates, for what owners create, and for routes to come.
 */
export function reportMismatches(app: FastifyInstance, logger: Logger): void {
  app.addHook('onSend', async (request, reply) => {
    if (reply.getHeader(ANSWER_HEADERS.mismatch) === undefined) return;
    const route = request.routeOptions.url ?? 'unknown';
    reportMismatch(logger, { request_id: requestIdOf(reply), actor: request.actor, route });
  });
}
