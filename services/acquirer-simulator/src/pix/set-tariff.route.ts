import { AMOUNT_CENTS_MAX } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { readControlBody } from '#control/read-control-body.ts';
import { writeSetting } from '#settings/settings.sql.ts';

import { TARIFF_SETTING } from './tariff.sql.ts';

/** Cents; 0 ends it. */
const TariffBody = z.object({ amount: z.int().min(0).max(Number(AMOUNT_CENTS_MAX)) });

/** `PUT /control/tariff`: what the provider takes for each Pix that arrives from now on. */
export function addSetTariff(app: FastifyInstance, deps: { db: Queryable }): void {
  app.put('/control/tariff', async (request, reply) => {
    const tariff = readControlBody(TariffBody, request.body);
    await writeSetting(deps.db, TARIFF_SETTING, tariff);
    return await reply.send(tariff);
  });
}
