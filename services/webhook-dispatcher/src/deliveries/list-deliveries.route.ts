import { parseShape } from '@pixmesh/http/json-request';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { toDeliveryResource } from './delivery-resource.ts';
import { listDeliveries } from './list-deliveries.sql.ts';

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
      data: found.slice(0, query.limit).map(toDeliveryResource),
      has_more: found.length > query.limit,
    };
  });
}
