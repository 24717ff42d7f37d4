import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { readJsonBody } from '@pixmesh/http/json-request';
import type { FastifyInstance } from 'fastify';

import { createEndpoint, type WriteEndpointDeps } from './create-endpoint.ts';
import { ownerOf } from './endpoint-owner.ts';
import { toEndpointResource } from './endpoint-resource.ts';

/** `POST /v1/webhooks`: 201 with the endpoint (decision 142). */
export function registerCreateWebhook(app: FastifyInstance, deps: WriteEndpointDeps): void {
  const { path, status } = PUBLIC_ROUTES.createWebhook;
  app.post(path, async (request, reply) => {
    const owner = ownerOf(request);
    const object = readJsonBody(request);
    const endpoint = await createEndpoint(deps, owner, object);
    return reply.code(status).send(toEndpointResource(endpoint));
  });
}
