import { deadlineIn } from '@pixmesh/http/deadline';
import type { InternalClient } from '@pixmesh/http/internal-client';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { z } from 'zod';

import { type ForwardableAnswer, requireForwardable } from '#forwarding/forwardable-answer.ts';

/** Services that answer operators' questions about what they own. */
export type OwnerService = 'charges' | 'payouts' | 'ledger' | 'webhook-dispatcher';

export type OwnerClients = Readonly<Record<OwnerService, InternalClient>>;

export type OwnerDeps = { clients: OwnerClients; requestTimeoutMs: number };

/** For what the gateway's own tables are needed too: accounts, the audit log. */
export type OwnerAndTablesDeps = OwnerDeps & { db: Database };

export type OwnerCall = { method: 'GET' | 'POST'; path: string; body?: Buffer };

/**
 * Asks the owner of a resource on behalf of the installation, once: the token carries no tenant, and whoever acts
 * stands in the body. Refusals are answers too, in the owner's own words.
 * @throws AppError `INTERNAL_ERROR`, `DEPENDENCY_UNAVAILABLE` when there is no answer that can be passed on
 */
export async function callOwner(
  deps: OwnerDeps,
  service: OwnerService,
  { method, path, body }: OwnerCall,
): Promise<ForwardableAnswer> {
  const answer = await deps.clients[service].request({
    method,
    path,
    claims: null,
    deadline: deadlineIn(deps.requestTimeoutMs),
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body }),
  });
  return requireForwardable(service, answer);
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
