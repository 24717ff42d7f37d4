import { formatBalanceText } from '@pixmesh/acquirer/amount-text';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import type { WithFaults } from '#faults/with-faults.ts';

import { readBalance, readBlocked } from './balance.sql.ts';

/**
 * `GET /v2/gn/saldo`, all money, blocked or not. Nothing is ever refused for lack of money, so it may be negative.
 */
export function addReadBalance(
  app: FastifyInstance,
  deps: { db: Queryable; withFaults: WithFaults },
): void {
  app.get(
    '/v2/gn/saldo',
    deps.withFaults('balance', async (request) => {
      const { bloqueios } = request.query as { bloqueios?: unknown };
      const saldo = formatBalanceText(await readBalance(deps.db));
      if (bloqueios !== 'true') return { status: 200, body: { saldo } };
      const med = formatBalanceText(await readBlocked(deps.db));
      return { status: 200, body: { saldo, bloqueios: { judicial: '0.00', med, total: med } } };
    }),
  );
}
