import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { readJsonBody } from '@pixmesh/http/json-request';
import { type EndpointId, readPathId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';

import { changeEndpoint } from './change-endpoint.ts';
import type { WriteEndpointDeps } from './create-endpoint.ts';
import { ownerOf } from './endpoint-owner.ts';
import { toEndpointResource } from './endpoint-resource.ts';

/** `PATCH /v1/webhooks/{id}`: 200 with the endpoint as it is afterwards (decision 143). */
export function registerUpdateWebhook(app: FastifyInstance, deps: WriteEndpointDeps): void {
  app.patch<{ Params: { id: string } }>(PUBLIC_ROUTES.updateWebhook.path, async (request) => {
    const endpoint = await changeEndpoint(deps, ownerOf(request), {
      id: readPathId<EndpointId>(request.params.id),
      readBody: () => readJsonBody(request),
    });
    return toEndpointResource(endpoint);
  });
}
