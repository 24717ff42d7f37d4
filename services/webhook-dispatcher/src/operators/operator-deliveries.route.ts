import {
  ListDeliveriesQuery,
  OPERATOR_DELIVERY_PATHS,
} from '@pixmesh/contracts/internal/operator-deliveries';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { AppError } from '@pixmesh/kernel/app-error';
import { type DeliveryId, readPathId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';

import {
  deliveryExists,
  findDelivery,
  listLog,
  type LogFilters,
} from '#deliveries/delivery-log.sql.ts';
import { toOperatorDelivery } from '#deliveries/delivery-resource.ts';
import type { StoredDelivery } from '#deliveries/describe-deliveries.sql.ts';
import type { EndpointLanesDeps } from '#endpoints/create-endpoint.ts';

import { resendDelivery } from './resend-delivery.ts';

type Params = { Params: { id: string } };

/** The delivery log for operators, and sending again what stands in it. */
export function registerOperatorDeliveries(app: FastifyInstance, deps: EndpointLanesDeps): void {
  app.get(OPERATOR_DELIVERY_PATHS.listDeliveries, async (request) => {
    const { filters, ...page } = readListQuery(ListDeliveriesQuery, request.query);
    const wanted = toFilters(filters);
    const { startingAfter } = page;
    // Every id is a place in the log, whether or not a delivery has it; only a delivery's has a page behind it.
    const hasPage = async (): Promise<boolean> =>
      startingAfter === null || (await deliveryExists(deps.db, startingAfter));
    return await answerList({
      page,
      fetch: async (limit) =>
        (await hasPage()) ? await listLog(deps.db, wanted, { ...page, limit }) : [],
      cursorExists: (id) => deliveryExists(deps.db, id),
      toResource: toOperatorDelivery,
      fits: (delivery) => delivery.fits,
    });
  });

  app.get<Params>(OPERATOR_DELIVERY_PATHS.getDelivery, async (request) =>
    toOperatorDelivery(await requireDelivery(deps, request)),
  );

  app.post<Params>(OPERATOR_DELIVERY_PATHS.resend, async (request, reply) => {
    const { id } = await requireDelivery(deps, request);
    return reply.code(202).send(toOperatorDelivery(await resendDelivery(deps, id as DeliveryId)));
  });
}

async function requireDelivery(
  { db }: EndpointLanesDeps,
  request: FastifyRequest<Params>,
): Promise<StoredDelivery> {
  const delivery = await findDelivery(db, readPathId(request.params.id));
  if (delivery === null) throw new AppError('NOT_FOUND');
  return delivery;
}

function toFilters(filters: z.output<typeof ListDeliveriesQuery>): LogFilters {
  return {
    accountId: filters.account_id,
    resourceId: filters.resource_id,
    endpointId: filters.endpoint_id,
    event: filters.event,
    status: filters.status,
    createdAfter: filters.created_after,
    createdBefore: filters.created_before,
  };
}
