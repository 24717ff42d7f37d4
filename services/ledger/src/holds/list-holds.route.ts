import { type HoldItem, HoldState } from '@pixmesh/contracts/internal/holds';
import { LEDGER_PAGE_MAX } from '@pixmesh/contracts/internal/ledger-reads';
import { parseShape } from '@pixmesh/http/json-request';
import { QueryId } from '@pixmesh/contracts/http/query-fields';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { pageLimit } from '#journals/page-limit.ts';

import { holdIdOf } from './hold-request.ts';
import { findHold, type HoldRow, listHolds } from './holds.sql.ts';

const Query = z.object({
  state: HoldState.nullable().default(null),
  kind: z.enum(['payout', 'refund']).nullable().default(null),
  starting_after: QueryId.nullable().default(null),
  limit: pageLimit(LEDGER_PAGE_MAX),
});

/** `GET /internal/holds` and `GET /internal/holds/{id}`: for those who compare, ordered by id. */
export function registerListHolds(app: FastifyInstance, deps: { db: Database }): void {
  app.get('/internal/holds', async (request) => {
    const { limit, starting_after: startingAfter, ...filters } = parseShape(Query, request.query);
    const rows = await listHolds(deps.db, { limit: limit + 1, startingAfter, filters });
    return {
      object: 'list',
      data: rows.slice(0, limit).map((row) => toItem(row)),
      has_more: rows.length > limit,
    };
  });

  app.get<{ Params: { id: string } }>('/internal/holds/:id', async (request) => {
    const row = await findHold(deps.db, holdIdOf(request.params.id));
    if (row === null) throw new AppError('NOT_FOUND');
    return toItem(row);
  });
}

function toItem(row: HoldRow): z.input<typeof HoldItem> {
  return {
    ...row,
    amount: Number(row.amount),
    fee: Number(row.fee),
    created_at: row.created_at.toISOString(),
  };
}
