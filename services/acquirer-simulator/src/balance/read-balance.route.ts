import { formatBalanceText } from '@pixmesh/acquirer/amount-text';
import type { Queryable } from '@pixmesh/postgres/pool';
import { z } from 'zod';

import { Flag } from '#api-pix/list-filters.ts';
import { readShape } from '#api-pix/read-body.ts';
import type { Provider } from '#faults/provider.ts';

import { readBalance, readBlocked } from './balance.sql.ts';

const BalanceQuery = z.object({ bloqueios: Flag.optional() });

/**
 * `GET /v2/gn/saldo`, all money, blocked or not. Nothing is ever refused for lack of money, so it may be negative.
 */
export function addReadBalance(provider: Provider, deps: { db: Queryable }): void {
  provider.get('/v2/gn/saldo', 'balance', async (request) => {
    const { bloqueios = false } = readShape(BalanceQuery, request.query);
    const saldo = formatBalanceText(await readBalance(deps.db));
    if (!bloqueios) return { status: 200, body: { saldo } };
    const med = formatBalanceText(await readBlocked(deps.db));
    return { status: 200, body: { saldo, bloqueios: { judicial: '0.00', med, total: med } } };
  });
}
