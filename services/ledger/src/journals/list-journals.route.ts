import { invalidRequest } from '@pixmesh/http/refusal';
import { parseShape } from '@pixmesh/http/json-request';
import { CURSOR_EXPECTED } from '@pixmesh/http/list-page';
import { AppError } from '@pixmesh/kernel/app-error';
import { type AccountId, parseId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { findVersion, type JournalRow, listJournals } from './list-journals.sql.ts';

const PAGE_LIMIT_DEFAULT = 20;
const PAGE_LIMIT_MAX = 100;

const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  starting_after: z.uuid({ error: `expected ${CURSOR_EXPECTED}` }).optional(),
});

/** `GET /internal/accounts/{id}/journals`: one account's journals with their entries, newest first. */
export function registerListJournals(app: FastifyInstance, deps: { db: Database }): void {
  app.get<{ Params: { id: string } }>('/internal/accounts/:id/journals', async (request) => {
    const accountId = parseId<AccountId>(request.params.id);
    if (accountId === null) throw new AppError('NOT_FOUND');
    const query = parseShape(PageQuery, request.query);
    const cursor = query.starting_after ?? null;
    const before = cursor === null ? null : await findVersion(deps.db, accountId, cursor);
    if (cursor !== null && before === null) {
      throw invalidRequest({ name: 'starting_after', expected: CURSOR_EXPECTED });
    }
    // One row more than the page shows whether there are more (decision 95).
    const rows = await listJournals(deps.db, accountId, { limit: query.limit + 1, before });
    return {
      object: 'list',
      data: rows.slice(0, query.limit).map((row) => toJournal(row)),
      has_more: rows.length > query.limit,
    };
  });
}

/** The journal as operators see it. */
function toJournal(row: JournalRow): object {
  return {
    id: row.commandId,
    object: 'journal',
    kind: row.kind,
    command_id: row.commandId,
    resource_id: row.resourceId,
    created_at: row.createdAt.toISOString(),
    entries: row.entries.map(({ kind, amount }) => ({
      account: kind,
      direction: amount < 0 ? 'debit' : 'credit',
      amount: Math.abs(amount),
    })),
  };
}
