import { InstantText } from '@pixmesh/contracts/http/instant-text';
import { QueryId } from '@pixmesh/contracts/http/query-fields';
import { JournalKind } from '@pixmesh/contracts/internal/journal-kinds';
import {
  type BookedJournals,
  LEDGER_PAGE_MAX,
  LOOKUP_JOURNALS_PATH,
  LookupJournalsBody,
} from '@pixmesh/contracts/internal/ledger-reads';
import { parseShape, readBody } from '@pixmesh/http/json-request';
import { CURSOR_EXPECTED } from '@pixmesh/http/list-page';
import { invalidRequest } from '@pixmesh/http/refusal';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { type BookedRow, isDecided, listBooked, lookUpJournals } from './booked-journals.sql.ts';
import { pageLimit } from './page-limit.ts';

/** Kinds that are listed by time. Holds are many, and have a list of their own. */
const ListedKind = JournalKind.exclude(['hold.take', 'hold.void']);

const Kinds = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(ListedKind).min(1).max(ListedKind.options.length));

const Query = z.object({
  kinds: Kinds,
  created_from: InstantText.nullable().default(null),
  created_to: InstantText.nullable().default(null),
  starting_after: QueryId.nullable().default(null),
  limit: pageLimit(LEDGER_PAGE_MAX),
});

/** `POST /internal/journals/lookup` and `GET /internal/journals`: what other services compare their own with. */
export function registerBookedJournals(app: FastifyInstance, deps: { db: Database }): void {
  app.post(LOOKUP_JOURNALS_PATH, async (request): Promise<Wire> => {
    const { command_ids: ids } = readBody(LookupJournalsBody, request);
    const rows = await lookUpJournals(deps.db, ids);
    return { data: rows.map((row) => toBooked(row)), has_more: false };
  });

  app.get('/internal/journals', async (request): Promise<Wire> => {
    const query = parseShape(Query, request.query);
    const { kinds, limit, created_from: from, created_to: to } = query;
    const startingAfter = query.starting_after;
    if (startingAfter !== null && !(await isDecided(deps.db, startingAfter))) {
      throw invalidRequest({ name: 'starting_after', expected: CURSOR_EXPECTED });
    }
    const page = { kinds, from, to, startingAfter, limit: limit + 1 };
    const rows = await listBooked(deps.db, page);
    return {
      data: rows.slice(0, limit).map((row) => toBooked(row)),
      has_more: rows.length > limit,
    };
  });
}

type Wire = z.input<typeof BookedJournals>;

function toBooked(row: BookedRow): Wire['data'][number] {
  return { ...row, amount: Number(row.amount), created_at: row.created_at.toISOString() };
}
