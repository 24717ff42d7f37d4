import { formatBalanceText } from '@pixmesh/acquirer/amount-text';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import type { WithFaults } from '#faults/with-faults.ts';

import { readBalance } from './balance.sql.ts';

const NOTHING_BLOCKED = { judicial: '0.00', med: '0.00', total: '0.00' };

/** `GET /v2/gn/saldo`. Nothing is ever refused for lack of money, so it may be negative. */
export function addReadBalance(
  app: FastifyInstance,
  deps: { db: Queryable; withFaults: WithFaults },
): void {
  app.get(
    '/v2/gn/saldo',
    deps.withFaults('balance', async (request) => {
      const { bloqueios } = request.query as { bloqueios?: unknown };
      const saldo = formatBalanceText(await readBalance(deps.db));
      return {
        status: 200,
        body: bloqueios === 'true' ? { saldo, bloqueios: NOTHING_BLOCKED } : { saldo },
      };
    }),
  );
}
