import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { ownerOf } from './endpoint-owner.ts';
import { toEndpointResource } from './endpoint-resource.ts';
import { listEndpoints } from './endpoints.sql.ts';

/** `GET /v1/webhooks`: every endpoint of the application on one page, whatever paging asks (decisions 144, 251). */
export function registerListWebhooks(app: FastifyInstance, deps: { db: Database }): void {
  app.get(PUBLIC_ROUTES.listWebhooks.path, async (request) => {
    const endpoints = await listEndpoints(deps.db, ownerOf(request));
    return { object: 'list', data: endpoints.map(toEndpointResource), has_more: false };
  });
}
