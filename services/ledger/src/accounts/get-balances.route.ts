import { BalancesQuery } from '@pixmesh/contracts/admin/admin-queries';
import { parseShape } from '@pixmesh/http/json-request';
import { AppError } from '@pixmesh/kernel/app-error';
import { type AccountId, parseId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { readAccount, readAccountAt, readTotals } from './accounts.sql.ts';
import { type AccountKind, type Balances, balancesOf } from './chart-of-accounts.ts';

/**
 * `GET /internal/accounts/{id}/balances`: every part of one owner's money and the number of the journal after which it
 * stood so, now or at an instant (`?at=`); `GET /internal/totals`: the sums over all owners.
 */
export function registerGetBalances(app: FastifyInstance, deps: { db: Database }): void {
  app.get<{ Params: { id: string } }>('/internal/accounts/:id/balances', async (request) => {
    const accountId = parseId<AccountId>(request.params.id);
    if (accountId === null) throw new AppError('NOT_FOUND');
    const { at } = parseShape(BalancesQuery, request.query);
    const { balances, version } =
      at === null
        ? await readAccount(deps.db, accountId)
        : await readAccountAt(deps.db, accountId, at);
    return {
      object: 'balances',
      account_id: accountId,
      currency: 'BRL',
      ...toNumbers(balances),
      version: Number(version),
    };
  });

  app.get('/internal/totals', async () => {
    const totals = await readTotals(deps.db);
    return { ...toNumbers(totals), read_at: totals.read_at.toISOString() };
  });
}

function toNumbers(balances: Balances): Record<AccountKind, number> {
  return balancesOf((kind) => Number(balances[kind]));
}
