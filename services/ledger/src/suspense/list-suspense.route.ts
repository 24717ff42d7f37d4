import { ListSuspenseQuery } from '@pixmesh/contracts/admin/admin-queries';
import { answerList, readListQuery } from '@pixmesh/http/list-page';
import { AppError } from '@pixmesh/kernel/app-error';
import { parseId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';

import {
  findSuspenseItem,
  hasSuspenseItem,
  listSuspense,
  type SuspenseRow,
} from './suspense.sql.ts';

/**
 * `GET /internal/suspense` and `GET /internal/suspense/{id}`: money that waits for an operator or did, newest first
 * (decision 141).
 */
export function registerListSuspense(app: FastifyInstance, deps: { db: Database }): void {
  app.get('/internal/suspense', async (request) => {
    const page = readListQuery(ListSuspenseQuery, request.query);
    const { startingAfter, filters } = page;
    return await answerList<SuspenseRow>({
      page,
      fetch: (limit) => listSuspense(deps.db, { limit, startingAfter, filters }),
      cursorExists: (id) => hasSuspenseItem(deps.db, id),
      toResource: toItem,
    });
  });

  app.get<{ Params: { id: string } }>('/internal/suspense/:id', async (request) => {
    const id = parseId(request.params.id);
    const row = id === null ? null : await findSuspenseItem(deps.db, id);
    if (row === null) throw new AppError('NOT_FOUND');
    return toItem(row);
  });
}

function toItem(row: SuspenseRow): object {
  return {
    id: row.id,
    object: 'suspense_item',
    account_id: row.account_id === PLATFORM_ACCOUNT_ID ? null : row.account_id,
    end_to_end_id: row.end_to_end_id,
    charge_id: row.charge_id,
    payout_id: row.payout_id,
    amount: Number(row.amount),
    reason: row.reason,
    created_at: row.created_at.toISOString(),
    resolved_at: row.resolved_at?.toISOString() ?? null,
  };
}
