import { ListRequestsQuery } from '@pixmesh/contracts/admin/admin-queries';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import type { LoggedRequest } from '#request-log/logged-request.ts';
import { listRequests, requestExists } from '#request-log/requests.sql.ts';

/** `GET /admin/requests`: the request log. */
export function registerListRequests(app: FastifyInstance, { db }: { db: Database }): void {
  app.get('/admin/requests', async (request) => {
    const page = readListQuery(ListRequestsQuery, request.query);
    return await answerList({
      page,
      fetch: (limit) => listRequests(db, { ...page, limit }),
      cursorExists: (id) => requestExists(db, id),
      toResource,
    });
  });
}

function toResource(request: LoggedRequest): object {
  return {
    id: request.id,
    object: 'request',
    account_id: request.caller?.accountId ?? null,
    application_id: request.caller?.applicationId ?? null,
    key_id: request.caller?.keyId ?? null,
    method: request.method,
    route: request.route,
    status: request.status,
    duration_ms: request.durationMs,
    request_id: request.requestId,
    client_address: request.clientAddress,
    trace_id: request.traceId,
    idempotency_mismatch: request.idempotencyMismatch,
    created_at: request.createdAt.toISOString(),
  };
}
