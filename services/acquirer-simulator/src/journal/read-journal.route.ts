import { parseShape } from '@pixmesh/http/json-request';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { SequencePage, toList } from '#control/sequence-page.ts';

import { readJournal } from './journal.sql.ts';

/** `GET /control/journal`: what really happened, oldest first. */
export function addReadJournal(app: FastifyInstance, deps: { db: Database }): void {
  app.get('/control/journal', async (request, reply) => {
    const page = parseShape(SequencePage, request.query);
    return await reply.send(toList(await readJournal(deps.db, page), page.limit));
  });
}
