import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { readControlBody } from '#control/read-control-body.ts';

import { adjustBalance, readBalance } from './balance.sql.ts';

/** Cents of either sign. */
const AdjustmentBody = z.object({ amount: z.int() });

/** `PUT /control/balance-adjustment`: a difference that nothing explains, instead of the one before; 0 ends it. */
export function addAdjustBalance(app: FastifyInstance, deps: { db: Queryable }): void {
  app.put('/control/balance-adjustment', async (request, reply) => {
    const { amount } = readControlBody(AdjustmentBody, request.body);
    await adjustBalance(deps.db, BigInt(amount));
    return await reply.send({ amount, balance: Number(await readBalance(deps.db)) });
  });
}
