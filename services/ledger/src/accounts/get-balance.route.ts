import type { Balance } from '@pixmesh/contracts/http/balance';
import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { tenantOf } from '@pixmesh/http/internal-auth';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { readAccount } from './accounts.sql.ts';
import type { Balances } from './chart-of-accounts.ts';

/** `GET /v1/balance`: the caller's own account, as it stands in one snapshot. */
export function registerGetBalance(app: FastifyInstance, deps: { db: Database }): void {
  app.get(PUBLIC_ROUTES.getBalance.path, async (request) => {
    const { balances } = await readAccount(deps.db, tenantOf(request).account_id);
    return toBalance(balances);
  });
}

function toBalance({ available, pending, blocked }: Balances): Balance {
  return {
    object: 'balance',
    currency: 'BRL',
    available: Number(available),
    pending: Number(pending),
    total: Number(available + pending),
    blocked: Number(blocked),
  };
}
