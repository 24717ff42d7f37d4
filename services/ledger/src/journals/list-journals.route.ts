import { CURSOR_EXPECTED, readListQuery } from '@pixmesh/http/list-page';
import { invalidRequest } from '@pixmesh/http/refusal';
import { AppError } from '@pixmesh/kernel/app-error';
import { type AccountId, parseId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { findVersion, type JournalRow, listJournals } from './list-journals.sql.ts';

/** `GET /internal/accounts/{id}/journals`: one account's journals with their entries, newest first. */
export function registerListJournals(app: FastifyInstance, deps: { db: Database }): void {
  app.get<{ Params: { id: string } }>('/internal/accounts/:id/journals', async (request) => {
    const accountId = parseId<AccountId>(request.params.id);
    if (accountId === null) throw new AppError('NOT_FOUND');
    const { limit, startingAfter } = readListQuery(z.object({}), request.query);
    const before =
      startingAfter === null ? null : await findVersion(deps.db, accountId, startingAfter);
    if (startingAfter !== null && before === null) {
      throw invalidRequest({ name: 'starting_after', expected: CURSOR_EXPECTED });
    }
    // One row more than the page shows whether there are more (decision 95).
    const rows = await listJournals(deps.db, accountId, { limit: limit + 1, before });
    return {
      object: 'list',
      data: rows.slice(0, limit).map((row) => toJournal(row)),
      has_more: rows.length > limit,
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
