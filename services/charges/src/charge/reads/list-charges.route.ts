import type { Receiver } from '@pixmesh/contracts/http/charge';
import { ListChargesQuery } from '@pixmesh/contracts/http/list-charges-query';
import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { tenantOf } from '@pixmesh/http/internal-auth';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { toChargeResource } from '#charge/charge-resource.ts';

import { listCharges, listedChargeExists } from './list-charges.sql.ts';

/** `GET /v1/charges`: the whole account, whichever application asked for the charge; none of the checkout. */
export function registerListCharges(
  app: FastifyInstance,
  deps: { db: Database; receiver: Receiver },
): void {
  app.get(PUBLIC_ROUTES.listCharges.path, async (request) => {
    const accountId = tenantOf(request).account_id;
    const { filters, ...page } = readListQuery(ListChargesQuery, request.query);
    const wanted = {
      accountId,
      status: filters.status,
      createdAfter: filters.created_after,
      createdBefore: filters.created_before,
    };
    // Nothing makes a boleto or a card charge; their filters are in the vocabulary and find nothing (decision 96).
    const isPossible = filters.method === undefined || filters.method === 'pix';
    return await answerList({
      page,
      fetch: async (limit) =>
        isPossible ? await listCharges(deps.db, wanted, { ...page, limit }) : [],
      cursorExists: (id) => listedChargeExists(deps.db, accountId, id),
      toResource: (charge) => toChargeResource(charge, deps.receiver),
    });
  });
}
