import { formatBalanceText } from '@pixmesh/acquirer/amount-text';
import type { Queryable } from '@pixmesh/postgres/pool';

import type { Provider } from '#faults/provider.ts';

import { readBalance, readBlocked } from './balance.sql.ts';

/**
 * `GET /v2/gn/saldo`, all money, blocked or not. Nothing is ever refused for lack of money, so it may be negative.
 */
export function addReadBalance(provider: Provider, deps: { db: Queryable }): void {
  provider.get('/v2/gn/saldo', 'balance', async (request) => {
    const { bloqueios } = request.query as { bloqueios?: unknown };
    const saldo = formatBalanceText(await readBalance(deps.db));
    if (bloqueios !== 'true') return { status: 200, body: { saldo } };
    const med = formatBalanceText(await readBlocked(deps.db));
    return { status: 200, body: { saldo, bloqueios: { judicial: '0.00', med, total: med } } };
  });
}
