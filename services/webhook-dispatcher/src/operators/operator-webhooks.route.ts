import {
  ChangeWebhookBody,
  OPERATOR_DELIVERY_PATHS,
  type OperatorWebhook,
} from '@pixmesh/contracts/internal/operator-deliveries';
import { readWrappedBody, requireSent, WRAPPED_BYTES_MAX } from '@pixmesh/http/operator-request';
import { AppError } from '@pixmesh/kernel/app-error';
import { type EndpointId, readPathId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { toOperatorDelivery } from '#deliveries/delivery-resource.ts';
import { changeEndpoint } from '#endpoints/change-endpoint.ts';
import type { WriteEndpointDeps } from '#endpoints/create-endpoint.ts';
import type { EndpointOwner } from '#endpoints/endpoint-row.ts';
import { findEndpoint, listEndpoints } from '#endpoints/endpoints.sql.ts';

import { findOwner, findOwnerOfApplication } from './find-owner.sql.ts';
import { toOperatorWebhooks } from './operator-webhook.ts';
import { testEndpoint } from './test-endpoint.ts';

type Params = { Params: { id: string } };

/** Registered endpoints for operators: the same rows and rules as `/v1/webhooks`, of whatever tenant. */
export function registerOperatorWebhooks(app: FastifyInstance, deps: WriteEndpointDeps): void {
  app.get<Params>(OPERATOR_DELIVERY_PATHS.listWebhooks, async (request) => {
    const owner = await findOwnerOfApplication(deps.db, readPathId(request.params.id));
    const endpoints = owner === null ? [] : await listEndpoints(deps.db, owner);
    const data = owner === null ? [] : await toOperatorWebhooks(deps.db, owner, endpoints);
    return { object: 'list', data, has_more: false };
  });

  app.get<Params>(OPERATOR_DELIVERY_PATHS.getWebhook, async (request) => {
    const { id, owner } = await requireEndpoint(deps.db, request);
    return await showWebhook(deps.db, owner, id);
  });

  app.post<Params>(
    OPERATOR_DELIVERY_PATHS.changeWebhook,
    { bodyLimit: WRAPPED_BYTES_MAX },
    async (request) => {
      const { id, owner } = await requireEndpoint(deps.db, request);
      const { body } = readWrappedBody(ChangeWebhookBody, request);
      await changeEndpoint(deps, owner, { id, readBody: () => requireSent(body) });
      return await showWebhook(deps.db, owner, id);
    },
  );

  app.post<Params>(OPERATOR_DELIVERY_PATHS.testWebhook, async (request, reply) => {
    const { id, owner } = await requireEndpoint(deps.db, request);
    return reply.code(202).send(toOperatorDelivery(await testEndpoint(deps, owner, id)));
  });
}

/** Before the body is read: an unknown id answers the same whatever was sent. */
async function requireEndpoint(
  db: Database,
  request: FastifyRequest<Params>,
): Promise<{ id: EndpointId; owner: EndpointOwner }> {
  const id = readPathId<EndpointId>(request.params.id);
  const owner = await findOwner(db, id);
  if (owner === null) throw new AppError('WEBHOOK_NOT_FOUND');
  return { id, owner };
}

async function showWebhook(
  db: Database,
  owner: EndpointOwner,
  id: EndpointId,
): Promise<OperatorWebhook> {
  const row = await findEndpoint(db, owner, id);
  const [webhook] = row === null ? [] : await toOperatorWebhooks(db, owner, [row]);
  // Deleted since it was found.
  if (webhook === undefined) throw new AppError('WEBHOOK_NOT_FOUND');
  return webhook;
}
