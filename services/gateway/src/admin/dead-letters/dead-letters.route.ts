import { DeadLetterService, ListDeadLettersQuery } from '@pixmesh/contracts/admin/admin-queries';
import { readListQuery } from '@pixmesh/http/list-page';
import { ignoreBodies } from '@pixmesh/http/service-app';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { type ForwardableAnswer, relayAnswer } from '#forwarding/forwardable-answer.ts';

import { recordChange } from '../audit/record-change.ts';
import { callOwner, type OwnerAndTablesDeps, readAnswer } from '../owners/call-owner.ts';
import { readPathId } from '../read-request.ts';
import { type DeadLetterPage, mergePages } from './merge-pages.ts';

const PageBody = z.object({
  data: z.array(z.looseObject({ id: z.string() })),
  has_more: z.boolean(),
});

/** `/admin/dead-letters`: every service's parked messages in one list, and their replay. */
export function registerDeadLetters(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  app.get('/admin/dead-letters', async (request) => {
    const { filters, limit, startingAfter } = readListQuery(ListDeadLettersQuery, request.query);
    const services = filters.service === undefined ? DeadLetterService.options : [filters.service];
    const cursor = startingAfter === null ? '' : `&starting_after=${startingAfter}`;
    const path = `/internal/dead-letters?limit=${limit}${cursor}`;
    // A service that is away fails the list: a shorter one would look complete.
    const pages = await Promise.all(services.map((service) => readPage(deps, service, path)));
    return mergePages(pages, limit);
  });

  app.register(async (bodiless) => {
    ignoreBodies(bodiless);
    bodiless.post('/admin/dead-letters/:service/:id/replay', async (request, reply) => {
      return relayAnswer(reply, await replay(deps, request));
    });
  });
}

async function readPage(
  deps: OwnerAndTablesDeps,
  service: DeadLetterService,
  path: string,
): Promise<DeadLetterPage> {
  const page = readAnswer(
    PageBody,
    service,
    await callOwner(deps, service, { method: 'GET', path }),
  );
  const letters = page.data.map((letter) => ({ ...letter, service }));
  return { letters, hasMore: page.has_more };
}

/**
 * Asks a service to handle a parked message again. The service's transaction is not ours, so the audit entry
 * says that it was asked for, and is written first: no replay can go unrecorded.
 */
async function replay(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  const id = readPathId(request);
  const service = DeadLetterService.options.find(
    (name) => name === (request.params as { service: string }).service,
  );
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
  // Replayed, unknown, or refused again: the service's own words (200, 404, 409).
  const path = `/internal/dead-letters/${id}/replay`;
  return await callOwner(deps, service, { method: 'POST', path });
}
