import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { type EndpointId, readPathId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';

import type { EndpointLanesDeps } from './create-endpoint.ts';
import { ownerOf } from './endpoint-owner.ts';
import { removeEndpoint } from './remove-endpoint.ts';

/** `DELETE /v1/webhooks/{id}`: 204; a second time 404, like every id that names nothing (decisions 14, 158). */
export function registerDeleteWebhook(app: FastifyInstance, deps: EndpointLanesDeps): void {
  const { path, status } = PUBLIC_ROUTES.deleteWebhook;
  app.delete<{ Params: { id: string } }>(path, async (request, reply) => {
    await removeEndpoint(deps, ownerOf(request), readPathId<EndpointId>(request.params.id));
    return reply.code(status).send();
  });
}
