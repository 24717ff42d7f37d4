import type { OperatorClaims } from '@pixmesh/contracts/internal/caller-claims';
import { deadlineIn } from '@pixmesh/http/deadline';
import type { InternalClient } from '@pixmesh/http/internal-client';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';

import { type ForwardableAnswer, requireForwardable } from '#forwarding/forwardable-answer.ts';

import { operatorIdOf } from '../authenticate-operator.ts';

/** Services that answer operators' questions about what they own. */
export const OWNER_SERVICES = ['ledger', 'payouts', 'charges', 'webhook-dispatcher'] as const;

export type OwnerService = (typeof OWNER_SERVICES)[number];

export type OwnerClients = Readonly<Record<OwnerService, InternalClient>>;

export type OwnerDeps = { clients: OwnerClients; requestTimeoutMs: number };

/** For what the gateway's own tables are needed too: accounts, the audit log. */
export type OwnerAndTablesDeps = OwnerDeps & { db: Database };

/** What the operator of a request of `/admin` needs of an owner. */
export type OwnerCall = {
  request: FastifyRequest;
  method: 'GET' | 'POST';
  path: string;
  body?: Buffer;
};

/**
 * Asks the owner of a resource, once: no tenant stands in the claims, but who acts and which route of `/admin` was
 * asked for. Refusals are answers too, in the owner's own words.
 * @throws AppError `INTERNAL_ERROR`, `DEPENDENCY_UNAVAILABLE` when there is no answer that can be passed on
 */
export async function callOwner(
  deps: OwnerDeps,
  service: OwnerService,
  { request, method, path, body }: OwnerCall,
): Promise<ForwardableAnswer> {
  const answer = await deps.clients[service].request({
    method,
    path,
    claims: { operator: operatorClaimsOf(request) },
    deadline: deadlineIn(deps.requestTimeoutMs),
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body }),
  });
  return requireForwardable(service, answer);
}

/** Who acts, and the route that was asked for. */
export function operatorClaimsOf(request: FastifyRequest): OperatorClaims {
  const purpose = `${request.method} ${request.routeOptions.url}`;
  return { operator_id: operatorIdOf(request), purpose };
}

/**
 * What an owner answered with 200, by its schema.
 * @throws AppError `INTERNAL_ERROR` for another status or shape: the question was the gateway's own
 */
export function readAnswer<Schema extends z.ZodType>(
  schema: Schema,
  service: string,
  answer: ForwardableAnswer,
): z.output<Schema> {
  const parsed = answer.status === 200 ? schema.safeParse(parseJson(answer.body)) : null;
  if (parsed?.success) return parsed.data;
  throw new AppError('INTERNAL_ERROR', {
    message: `${service} answered ${answer.status} in a shape that cannot be read`,
    cause: parsed?.error,
  });
}

/** The body of an answer; null where it is no JSON. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
