import { DeadLetterService, ListDeadLettersQuery } from '@pixmesh/contracts/admin/admin-queries';
import { DEAD_LETTER_PATHS, DismissDeadLetterBody } from '@pixmesh/contracts/internal/dead-letters';
import { readBody } from '@pixmesh/http/json-request';
import { readListQuery } from '@pixmesh/http/list-page';
import { ignoreBodies } from '@pixmesh/http/service-app';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { buildUpstreamPath } from '#forwarding/build-upstream-path.ts';
import { type ForwardableAnswer, relayAnswer } from '#forwarding/forwardable-answer.ts';

import { recordChange } from '../audit/record-change.ts';
import { changeAudited } from '../owners/audited-change.ts';
import {
  callOwner,
  type OwnerAndTablesDeps,
  type OwnerCall,
  parseJson,
  readAnswer,
} from '../owners/call-owner.ts';
import { requirePathId } from '../read-request.ts';
import { type DeadLetterPage, mergePages } from './merge-pages.ts';
import type { AskOwnLetters } from './own-letters.ts';

export type LettersDeps = OwnerAndTablesDeps & { ownLetters: AskOwnLetters };

const PageBody = z.object({
  data: z.array(z.looseObject({ id: z.string() })),
  has_more: z.boolean(),
});

/** `/admin/dead-letters`: every service's parked messages in one list, their content, replay and dismissal. */
export function registerDeadLetters(app: FastifyInstance, deps: LettersDeps): void {
  app.get('/admin/dead-letters', async (request) => {
    const { filters, limit, startingAfter } = readListQuery(ListDeadLettersQuery, request.query);
    const { service, ...asked } = filters;
    const services = service === undefined ? DeadLetterService.options : [service];
    const query = new URLSearchParams({ limit: String(limit), ...definedOf(asked) });
    if (startingAfter !== null) query.set('starting_after', startingAfter);
    const path = `${DEAD_LETTER_PATHS.list}?${query.toString()}`;
    // A service that is away fails the list: a shorter one would look complete.
    const pages = await Promise.all(
      services.map((name) => readPage(deps, name, { request, path })),
    );
    return mergePages(pages, limit);
  });

  app.get('/admin/dead-letters/:service/:id', async (request, reply) => {
    const place = placeOf(request);
    return relayAnswer(reply, withService(await readLetter(deps, request, place), place));
  });

  app.register(async (bodiless) => {
    ignoreBodies(bodiless);
    bodiless.post('/admin/dead-letters/:service/:id/replay', async (request, reply) => {
      return relayAnswer(reply, await replay(deps, request));
    });
  });

  app.post('/admin/dead-letters/:service/:id/dismiss', async (request, reply) => {
    return relayAnswer(reply, await dismiss(deps, request));
  });
}

async function ask(
  deps: LettersDeps,
  service: DeadLetterService,
  call: OwnerCall,
): Promise<ForwardableAnswer> {
  return service === 'gateway' ? await deps.ownLetters(call) : await callOwner(deps, service, call);
}

/** A letter as the path names it. */
type Place = { service: DeadLetterService; id: string };

/** @throws AppError `NOT_FOUND` for an unknown service or an ill-formed id */
function placeOf(request: FastifyRequest): Place {
  const id = requirePathId(request);
  const { service: asked } = request.params as { service: string };
  const service = DeadLetterService.options.find((name) => name === asked);
  if (service === undefined) throw new AppError('NOT_FOUND');
  return { service, id };
}

function definedOf(filters: Record<string, string | undefined>): Record<string, string> {
  const named = Object.entries(filters).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(named) as Record<string, string>;
}

async function readPage(
  deps: LettersDeps,
  service: DeadLetterService,
  list: Pick<OwnerCall, 'request' | 'path'>,
): Promise<DeadLetterPage> {
  const answer = await ask(deps, service, { ...list, method: 'GET' });
  const page = readAnswer(PageBody, service, answer);
  const letters = page.data.map((letter) => ({ ...letter, service }));
  return { letters, hasMore: page.has_more };
}

async function readLetter(
  deps: LettersDeps,
  request: FastifyRequest,
  { service, id }: Place,
): Promise<ForwardableAnswer> {
  const path = buildUpstreamPath(DEAD_LETTER_PATHS.get, { id }, '');
  return await ask(deps, service, { request, method: 'GET', path });
}

/** Which service keeps a letter, only the gateway knows. */
function withService(answer: ForwardableAnswer, { service }: Place): ForwardableAnswer {
  if (answer.status !== 200) return answer;
  const letter = { ...(parseJson(answer.body) as object), service };
  return { ...answer, body: Buffer.from(JSON.stringify(letter)) };
}

/**
 * Asks a service to handle a parked message again. The service's transaction is not ours, so the audit entry
 * says that it was asked for, and is written first: no replay can go unrecorded.
 */
async function replay(deps: LettersDeps, request: FastifyRequest): Promise<ForwardableAnswer> {
  const { service, id } = placeOf(request);
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
  const path = buildUpstreamPath(DEAD_LETTER_PATHS.replay, { id }, '');
  return await ask(deps, service, { request, method: 'POST', path });
}

/** Has a service give a parked message up. Unknown ids are answered before the body is read (decision 155). */
async function dismiss(deps: LettersDeps, request: FastifyRequest): Promise<ForwardableAnswer> {
  const place = placeOf(request);
  const read = await readLetter(deps, request, place);
  if (read.status !== 200) return read;
  const body = Buffer.from(JSON.stringify(readBody(DismissDeadLetterBody, request)));
  const path = buildUpstreamPath(DEAD_LETTER_PATHS.dismiss, { id: place.id }, '');
  const audited = {
    actor: request.actor,
    target: { kind: 'dead_letter', id: `${place.service}/${place.id}` },
    asked: 'dead_letter.dismissal_requested',
    done: 'dead_letter.dismissed',
    before: parseJson(read.body) as object,
  } as const;
  const answer = await changeAudited(deps.db, audited, () =>
    ask(deps, place.service, { request, method: 'POST', path, body }),
  );
  return withService(answer, place);
}
