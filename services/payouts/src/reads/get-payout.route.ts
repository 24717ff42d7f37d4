import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { tenantOf } from '@pixmesh/http/internal-auth';
import { AppError } from '@pixmesh/kernel/app-error';
import { type PayoutId, readPathId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { toPayoutResource } from '#payouts/payout-resource.ts';
import { isVisible } from '#payouts/payout-row.ts';
import { findPayout } from '#payouts/payouts.sql.ts';

/**
 * `GET /v1/payouts/{id}`, payouts of the dashboard included. Unknown, ill-formed and foreign ids and intents get
 * one and the same 404 (decisions 14, 129).
 */
export function registerGetPayout(app: FastifyInstance, deps: { db: Database }): void {
  app.get<{ Params: { id: string } }>(PUBLIC_ROUTES.getPayout.path, async (request) => {
    const id = readPathId<PayoutId>(request.params.id);
    const accountId = tenantOf(request).account_id;
    const payout = await findPayout(deps.db, accountId, id);
    if (payout === null || !isVisible(payout)) throw new AppError('PAYOUT_NOT_FOUND');
    return toPayoutResource(payout);
  });
}
