import { ListPayoutsQuery } from '@pixmesh/contracts/http/list-payouts-query';
import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { tenantOf } from '@pixmesh/http/internal-auth';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { toPayoutResource } from '#payouts/payout-resource.ts';

import { listedPayoutExists, listPayouts } from './list-payouts.sql.ts';

/** `GET /v1/payouts`: the whole account, whichever application or operator asked for the payout. */
export function registerListPayouts(app: FastifyInstance, deps: { db: Database }): void {
  app.get(PUBLIC_ROUTES.listPayouts.path, async (request) => {
    const accountId = tenantOf(request).account_id;
    const { filters, ...page } = readListQuery(ListPayoutsQuery, request.query);
    const wanted = {
      accountId,
      status: filters.status,
      createdAfter: filters.created_after,
      createdBefore: filters.created_before,
    };
    // Nothing makes a TED; its filter is in the vocabulary and finds nothing (decision 129).
    const isPossible = filters.method !== 'ted';
    return await answerList({
      page,
      fetch: async (limit) =>
        isPossible ? await listPayouts(deps.db, wanted, { ...page, limit }) : [],
      cursorExists: (id) => listedPayoutExists(deps.db, wanted, id),
      toResource: toPayoutResource,
    });
  });
}
