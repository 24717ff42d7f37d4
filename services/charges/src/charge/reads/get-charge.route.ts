import type { Receiver } from '@pixmesh/contracts/http/charge';
import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { tenantOf } from '@pixmesh/http/internal-auth';
import { AppError } from '@pixmesh/kernel/app-error';
import { type ChargeId, readPathId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { toChargeResource } from '#charge/charge-resource.ts';
import { findCharge } from '#charge/charges.sql.ts';

/**
 * `GET /v1/charges/{id}`. Unknown, ill-formed, foreign and checkout ids get one and the same 404
 * (decisions 14, 97).
 */
export function registerGetCharge(
  app: FastifyInstance,
  deps: { db: Database; receiver: Receiver },
): void {
  app.get<{ Params: { id: string } }>(PUBLIC_ROUTES.getCharge.path, async (request) => {
    const id = readPathId<ChargeId>(request.params.id);
    const accountId = tenantOf(request).account_id;
    const charge = await findCharge(deps.db, accountId, id);
    if (charge?.source !== 'api') throw new AppError('CHARGE_NOT_FOUND');
    return toChargeResource(charge, deps.receiver);
  });
}
