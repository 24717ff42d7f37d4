import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { AppError } from '@pixmesh/kernel/app-error';
import { type EndpointId, readPathId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { ownerOf } from './endpoint-owner.ts';
import type { EndpointOwner } from './endpoint-row.ts';
import { deleteEndpoint } from './endpoints.sql.ts';
import { cancelDeliveries } from './waiting-deliveries.sql.ts';

/** `DELETE /v1/webhooks/{id}`: 204; a second time 404, like every id that names nothing (decisions 14, 158). */
export function registerDeleteWebhook(app: FastifyInstance, deps: { db: Database }): void {
  const { path, status } = PUBLIC_ROUTES.deleteWebhook;
  app.delete<{ Params: { id: string } }>(path, async (request, reply) => {
    const id = readPathId<EndpointId>(request.params.id);
    const deleted = await deleteWithDeliveries(deps.db, ownerOf(request), id);
    if (!deleted) throw new AppError('WEBHOOK_NOT_FOUND');
    return reply.code(status).send();
  });
}

/** First the endpoint, so that no sender takes up for it what is not canceled yet. */
async function deleteWithDeliveries(
  db: Database,
  owner: EndpointOwner,
  id: EndpointId,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const deleted = await deleteEndpoint(tx, owner, id);
    if (deleted) await cancelDeliveries(tx, owner, id);
    return deleted;
  });
}
