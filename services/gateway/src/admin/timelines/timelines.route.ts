import {
  type BookedJournal,
  BookedJournals,
  LOOKUP_JOURNALS_PATH,
} from '@pixmesh/contracts/internal/ledger-reads';
import {
  OwnedTimeline,
  PartialTimeline,
  TIMELINE_PATHS,
  type TimelineEntry,
} from '@pixmesh/contracts/internal/timeline';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { buildUpstreamPath } from '#forwarding/build-upstream-path.ts';
import { type ForwardableAnswer, relayAnswer } from '#forwarding/forwardable-answer.ts';

import { callOwner, type OwnerCall, type OwnerDeps, readAnswer } from '../owners/call-owner.ts';
import { joinTimelines } from './join-timelines.ts';

type Owner = { owner: 'charges' | 'payouts'; path: string };
const CHARGE: Owner = { owner: 'charges', path: TIMELINE_PATHS.charge };
const PAYOUT: Owner = { owner: 'payouts', path: TIMELINE_PATHS.payout };

/** `GET /admin/charges/{id}/timeline` and `…/payouts/{id}/timeline`: the life of one resource, from its owners. */
export function registerTimelines(app: FastifyInstance, deps: OwnerDeps): void {
  app.get('/admin/charges/:id/timeline', async (request, reply) =>
    relayAnswer(reply, await readTimeline(deps, request, CHARGE)),
  );
  app.get('/admin/payouts/:id/timeline', async (request, reply) =>
    relayAnswer(reply, await readTimeline(deps, request, PAYOUT)),
  );
}

/** The owner first: it knows whether there is such a resource, and under which ids the others know of it. */
async function readTimeline(
  deps: OwnerDeps,
  request: FastifyRequest,
  { owner, path }: Owner,
): Promise<ForwardableAnswer> {
  const params = request.params as { id: string };
  const answer = await callOwner(deps, owner, {
    request,
    method: 'GET',
    path: buildUpstreamPath(path, params, ''),
  });
  if (answer.status !== 200) return answer;
  const owned = readAnswer(OwnedTimeline, owner, answer);
  const [journals, deliveries] = await Promise.all([
    readJournals(deps, request, owned),
    readDeliveries(deps, request, owned),
  ]);
  const timeline = joinTimelines(owned.resource_ids[0] ?? params.id, [journals, owned, deliveries]);
  return { ...answer, body: Buffer.from(JSON.stringify(timeline)) };
}

async function readJournals(
  deps: OwnerDeps,
  request: FastifyRequest,
  owned: OwnedTimeline,
): Promise<PartialTimeline> {
  const { command_ids } = owned;
  if (command_ids.length === 0) return { entries: [], truncated: false };
  const path = LOOKUP_JOURNALS_PATH;
  const answer = await callOwner(deps, 'ledger', question(request, path, { command_ids }));
  const { data } = readAnswer(BookedJournals, 'ledger', answer);
  // A command that was refused moved nothing, and has no journal.
  const moved = data.filter(({ amount }) => amount > 0n);
  return { entries: moved.map((journal) => toEntry(journal, owned)), truncated: false };
}

/** A journal that names no resource of its own is a step of the resource that was asked for. */
function toEntry(journal: BookedJournal, owned: OwnedTimeline): TimelineEntry {
  const { command_id, resource_id, account_id, kind, amount, created_at } = journal;
  return {
    at: created_at,
    kind: 'journal',
    service: 'ledger',
    id: command_id,
    resource_id: resource_id ?? owned.resource_ids[0] ?? command_id,
    what: kind,
    details: { amount: Number(amount), account_id },
  };
}

async function readDeliveries(
  deps: OwnerDeps,
  request: FastifyRequest,
  owned: OwnedTimeline,
): Promise<PartialTimeline> {
  const service = 'webhook-dispatcher';
  const { resource_ids } = owned;
  const answer = await callOwner(
    deps,
    service,
    question(request, TIMELINE_PATHS.deliveries, { resource_ids }),
  );
  return readAnswer(PartialTimeline, service, answer);
}

function question(request: FastifyRequest, path: string, body: object): OwnerCall {
  return { request, method: 'POST', path, body: Buffer.from(JSON.stringify(body)) };
}
