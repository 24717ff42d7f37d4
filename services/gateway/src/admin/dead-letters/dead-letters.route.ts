import { deadlineIn } from '@pixmesh/http/deadline';
import type { InternalAnswer, InternalClient } from '@pixmesh/http/internal-client';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { type ForwardableAnswer, judgeAnswer } from '#forwarding/judge-answer.ts';

import { recordChange } from '../audit/record-change.ts';
import { readListQuery } from '@pixmesh/http/list-page';
import { readPathId } from '../read-request.ts';
import { type DeadLetterPage, mergePages } from './merge-pages.ts';

/** Services that park messages; the word in the address is the service's name. */
const SERVICES = ['charges', 'ledger', 'webhook-dispatcher'] as const;
type DeadLetterService = (typeof SERVICES)[number];

const Filters = z.object({ service: z.enum(SERVICES).optional() });

const PageBody = z.object({
  data: z.array(z.looseObject({ id: z.string() })),
  has_more: z.boolean(),
});

export type DeadLetterDeps = {
  db: Database;
  clients: Readonly<Record<DeadLetterService, InternalClient>>;
  requestTimeoutMs: number;
};

/** `/admin/dead-letters`: every service's parked messages in one list, and their replay. */
export function registerDeadLetters(app: FastifyInstance, deps: DeadLetterDeps): void {
  app.get('/admin/dead-letters', async (request) => {
    const { filters, limit, startingAfter } = readListQuery(Filters, request.query);
    const services = filters.service === undefined ? SERVICES : [filters.service];
    const cursor = startingAfter === null ? '' : `&starting_after=${startingAfter}`;
    const path = `/internal/dead-letters?limit=${limit}${cursor}`;
    // A service that is away fails the list: a shorter one would look like good news.
    const pages = await Promise.all(services.map((service) => readPage(deps, service, path)));
    return mergePages(pages, limit);
  });

  app.post('/admin/dead-letters/:service/:id/replay', async (request, reply) => {
    const { status, body } = await replay(deps, request);
    return reply.code(status).type('application/json; charset=utf-8').send(body);
  });
}

async function readPage(
  deps: DeadLetterDeps,
  service: DeadLetterService,
  path: string,
): Promise<DeadLetterPage> {
  const answer = await deps.clients[service].request({
    method: 'GET',
    path,
    claims: null,
    deadline: deadlineIn(deps.requestTimeoutMs),
  });
  const page = answer.status === 200 ? PageBody.safeParse(parseJson(answer.body)) : null;
  if (!page?.success) throw unreadable(service, answer);
  const letters = page.data.data.map((letter) => ({ ...letter, service }));
  return { letters, hasMore: page.data.has_more };
}

/**
 * Asks a service to handle a parked message again. The service's transaction is not ours, so the audit entry
 * says that it was asked for, and is written first: no replay can go unrecorded.
 */
async function replay(deps: DeadLetterDeps, request: FastifyRequest): Promise<ForwardableAnswer> {
  const id = readPathId(request);
  const service = SERVICES.find((name) => name === (request.params as { service: string }).service);
  if (service === undefined) throw new AppError('NOT_FOUND');
  await deps.db.transaction((tx) =>
    recordChange(tx, {
      actor: request.actor,
      action: 'dead_letter.replay_requested',
      target: { kind: 'dead_letter', id: `${service}/${id}` },
      before: null,
      after: null,
    }),
  );
  const answer = await deps.clients[service].request({
    method: 'POST',
    path: `/internal/dead-letters/${id}/replay`,
    claims: null,
    deadline: deadlineIn(deps.requestTimeoutMs),
  });
  // Replayed, unknown, or refused again: the service's own words (200, 404, 409).
  const forwardable = judgeAnswer(answer);
  if (forwardable === null) throw unreadable(service, answer);
  return forwardable;
}

function unreadable(service: DeadLetterService, answer: InternalAnswer): AppError {
  return new AppError('INTERNAL_ERROR', {
    message: `${service} answered ${answer.status} about its dead letters`,
  });
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
