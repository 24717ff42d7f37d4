import type { PublicRoute } from '@pixmesh/contracts/http/public-routes';
import { deadlineIn } from '@pixmesh/http/deadline';
import type { InternalClient, InternalRequest } from '@pixmesh/http/internal-client';
import { rawBody } from '@pixmesh/http/service-app';
import { deriveResourceId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';

import type { Caller } from '#authentication/authenticate-key.ts';
import { readIdempotencyKey } from '#authentication/read-idempotency-key.ts';

import { buildUpstreamPath } from './build-upstream-path.ts';
import { type ForwardableAnswer, requireForwardable } from './forwardable-answer.ts';

/** The owners of public routes, by the name that the route table uses. */
export type Owners = Readonly<Record<Exclude<PublicRoute['owner'], 'gateway'>, InternalClient>>;

type ForwardDeps = { owners: Owners; requestTimeoutMs: number };
type Forwarded = { caller: Caller; requestId: string; request: FastifyRequest };

/** The id that the key of a creation stands for; null on routes that create nothing (decision 55). */
export function readCreationId(
  route: PublicRoute,
  caller: Caller,
  rawHeaders: readonly string[],
): string | null {
  if (route.creates === null) return null;
  return deriveResourceId(caller.applicationId, route.creates, readIdempotencyKey(rawHeaders));
}

/**
 * Hands a request to the owner of its route, once: who calls and what is to be created travel in the
 * claims, and of the client's headers only those go along that say how its body is to be read.
 * @throws AppError `INTERNAL_ERROR` when the owner gave no answer that can be passed on (decision 25)
 */
export async function forwardRequest(
  deps: ForwardDeps,
  route: PublicRoute & { owner: keyof Owners },
  { caller, requestId, request, creationId }: Forwarded & { creationId: string | null },
): Promise<ForwardableAnswer> {
  const answer = await deps.owners[route.owner].request({
    method: route.method,
    path: buildUpstreamPath(
      route.path,
      request.params as Record<string, string>,
      request.raw.url ?? '',
    ),
    claims: {
      tenant: {
        account_id: caller.accountId,
        application_id: caller.applicationId,
        key_id: caller.keyId,
        request_id: requestId,
        settings: caller.settings,
        creation_id: creationId,
      },
    },
    deadline: deadlineIn(deps.requestTimeoutMs),
    ...(route.body === null ? {} : bodyOf(request)),
  });
  return requireForwardable(route.owner, answer);
}

const BODY_HEADERS = ['content-type', 'content-encoding'] as const;

/**
 * The body and its headers: whether it can be read is the owner's to decide, after it has looked
 * up what the request is about. A route without a body takes neither, whatever the client sent.
 */
function bodyOf({ body, headers }: FastifyRequest): Pick<InternalRequest, 'headers' | 'body'> {
  const sent = BODY_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { body: rawBody(body), headers: Object.fromEntries(sent) as Record<string, string> };
}
