import { EVENT_CATALOGUE } from '@pixmesh/contracts/events/event-catalogue';
import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { tenantOf } from '@pixmesh/http/internal-auth';
import { readJsonBody } from '@pixmesh/http/json-request';
import { type EndpointId, readPathId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { changeEndpoint } from './change-endpoint.ts';
import { createEndpoint, type WriteEndpointDeps } from './create-endpoint.ts';
import { toEndpointResource } from './endpoint-resource.ts';
import type { EndpointOwner } from './endpoint-row.ts';
import { listEndpoints } from './endpoints.sql.ts';
import { removeEndpoint } from './remove-endpoint.ts';

type Params = { Params: { id: string } };

/** `/v1/webhooks`: registered endpoints, and the catalogue that they choose from. */
export function registerWebhooks(app: FastifyInstance, deps: WriteEndpointDeps): void {
  // Every endpoint of the application on one page, whatever paging asks (decisions 144, 251).
  app.get(PUBLIC_ROUTES.listWebhooks.path, async (request) => {
    const endpoints = await listEndpoints(deps.db, ownerOf(request));
    return { object: 'list', data: endpoints.map(toEndpointResource), has_more: false };
  });

  // 201 with the endpoint (decision 142).
  app.post(PUBLIC_ROUTES.createWebhook.path, async (request, reply) => {
    const endpoint = await createEndpoint(deps, ownerOf(request), {
      object: readJsonBody(request),
      accountMax: tenantOf(request).settings.endpoints_max,
    });
    return reply.code(PUBLIC_ROUTES.createWebhook.status).send(toEndpointResource(endpoint));
  });

  // 200 with the endpoint as it is afterwards (decision 143).
  app.patch<Params>(PUBLIC_ROUTES.updateWebhook.path, async (request) => {
    const endpoint = await changeEndpoint(deps, ownerOf(request), {
      id: readPathId<EndpointId>(request.params.id),
      readBody: () => readJsonBody(request),
    });
    return toEndpointResource(endpoint);
  });

  // A second time 404, like every id that names nothing (decisions 14, 158).
  app.delete<Params>(PUBLIC_ROUTES.deleteWebhook.path, async (request, reply) => {
    await removeEndpoint(deps, ownerOf(request), readPathId<EndpointId>(request.params.id));
    return reply.code(PUBLIC_ROUTES.deleteWebhook.status).send();
  });

  // In the specification's order (decision 145).
  app.get(PUBLIC_ROUTES.listWebhookEvents.path, async () => ({
    object: 'list',
    data: EVENT_CATALOGUE,
    has_more: false,
  }));
}

/** The application that calls: it comes from the key, never from path or body. */
function ownerOf(request: FastifyRequest): EndpointOwner {
  const tenant = tenantOf(request);
  return { accountId: tenant.account_id, applicationId: tenant.application_id };
}
