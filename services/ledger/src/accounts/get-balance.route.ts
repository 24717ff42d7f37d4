import type { Balance } from '@pixmesh/contracts/http/balance';
import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { callerOf } from '@pixmesh/http/internal-auth';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { type BalanceParts, readBalance } from './accounts.sql.ts';

/** `GET /v1/balance`: the caller's own account, as it stands in one snapshot. */
export function registerGetBalance(app: FastifyInstance, deps: { db: Database }): void {
  app.get(PUBLIC_ROUTES.getBalance.path, async (request) => {
    return toBalance(await readBalance(deps.db, callerOf(request).account_id));
  });
}

function toBalance(parts: BalanceParts): Balance {
  return {
    object: 'balance',
    currency: 'BRL',
    available: Number(parts.available),
    pending: Number(parts.pending),
    total: Number(parts.available + parts.pending),
    blocked: Number(parts.blocked),
  };
}
