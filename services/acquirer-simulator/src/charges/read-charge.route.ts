import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { apiPixError } from '#api-pix/provider-error.ts';
import { readShape } from '#api-pix/read-body.ts';
import type { WithFaults } from '#faults/with-faults.ts';

import { TxidParams } from './charge-body.ts';
import { toChargeResource } from './charge-resource.ts';
import { findCharge } from './charges.sql.ts';

/** `GET /v2/cob/{txid}`: one statement, with everything paid to the charge. */
export function addReadCharge(
  app: FastifyInstance,
  deps: { db: Queryable; withFaults: WithFaults },
): void {
  app.get(
    '/v2/cob/:txid',
    deps.withFaults('getCharge', async (request) => {
      const { txid } = readShape(TxidParams, request.params);
      const charge = await findCharge(deps.db, txid);
      if (charge === null) throw apiPixError('CobNaoEncontrado', 404);
      return { status: 200, body: toChargeResource(charge) };
    }),
  );
}
