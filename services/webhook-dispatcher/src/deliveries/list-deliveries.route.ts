import { parseShape } from '@pixmesh/http/json-request';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { listDeliveries, type StoredAttempt, type StoredDelivery } from './list-deliveries.sql.ts';

const PAGE_LIMIT_DEFAULT = 20;
const PAGE_LIMIT_MAX = 100;

const Query = z.object({
  resource_id: z.uuid(),
  limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  starting_after: z.uuid().optional(),
});

/** `GET /internal/deliveries?resource_id=`: what became of every event of one resource. */
export function registerListDeliveries(app: FastifyInstance, deps: { db: Database }): void {
  app.get('/internal/deliveries', async (request) => {
    const query = parseShape(Query, request.query);
    // One more than asked for says whether there are more.
    const found = await listDeliveries(deps.db, {
      resourceId: query.resource_id,
      accountId: request.callerClaims?.account_id ?? null,
      limit: query.limit + 1,
      startingAfter: query.starting_after ?? null,
    });
    return {
      object: 'list',
      data: found.slice(0, query.limit).map(toResource),
      has_more: found.length > query.limit,
    };
  });
}

/** Shape of design section 5. */
function toResource(delivery: StoredDelivery): object {
  return {
    id: delivery.id,
    object: 'delivery',
    event: delivery.event,
    resource_id: delivery.resourceId,
    endpoint_id: delivery.endpointId,
    url: delivery.url,
    status: delivery.status,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
    attempts: delivery.attempts.map(toAttemptResource),
  };
}

function toAttemptResource(attempt: StoredAttempt): object {
  return {
    number: attempt.number,
    started_at: attempt.startedAt.toISOString(),
    duration_ms: attempt.durationMs,
    outcome: attempt.outcome,
    status: attempt.status,
    error: attempt.error,
    response_excerpt: attempt.responseExcerpt,
    address: attempt.address,
    manual: attempt.manual,
  };
}
