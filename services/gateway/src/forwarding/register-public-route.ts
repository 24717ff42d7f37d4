import assert from 'node:assert';

import { PUBLIC_ROUTES, type PublicRoute } from '@pixmesh/contracts/http/public-routes';
import { runForAccount } from '@pixmesh/fair-share/current-account';
import { JSON_TYPE } from '@pixmesh/http/json-type';
import { ignoreBodies } from '@pixmesh/http/service-app';
import { explained } from '@pixmesh/http/refusal';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { getAccount } from '#account/get-account.ts';
import type { AuthenticateKey, Caller } from '#authentication/authenticate-key.ts';
import { keepConnection } from '#edge/idle-connections.ts';
import { requestIdOf } from '#edge/stamp-answers.ts';
import { countUnauthorized, reportMismatch } from '#reports.ts';
import type { AdmitRequest } from '#limits/admit-request.ts';
import { refuseWithoutTurn } from '#limits/refuse-for-now.ts';

import { forwardRequest, type Owners, readCreationId } from './forward-request.ts';
import { relayAnswer } from './forwardable-answer.ts';

/** A body may take seconds. Where it came later than this, the caller is read once more before anything is done. */
const CALLER_AGE_MS_MAX = 250;

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose key the request carries; null until it is accepted. */
    caller: Caller | null;
    /** When the read of the caller was asked for, by `performance.now()`. */
    callerReadMs: number;
    /** Public id of the key that the request carries, where there is such a key and it is not accepted. */
    refusedKey: string | null;
    /** The id of a creation, derived from its `Idempotency-Key`. */
    creationId: string | null;
    /** Whether the answer said that the key was repeated with another body. */
    idempotencyMismatch: boolean;
    /** What the gateway does for the request; null until it begins. */
    work: Promise<unknown> | null;
  }
}

export type PublicRouteDeps = {
  db: Database;
  logger: Logger;
  authenticate: AuthenticateKey;
  admitRequest: AdmitRequest;
  owners: Owners;
  requestTimeoutMs: number;
};

/** Registers the whole table of public routes: there is no second list. */
export function registerPublicRoutes(app: FastifyInstance, deps: PublicRouteDeps): void {
  app.decorateRequest('caller', null);
  app.decorateRequest('callerReadMs', 0);
  app.decorateRequest('refusedKey', null);
  app.decorateRequest('creationId', null);
  app.decorateRequest('idempotencyMismatch', false);
  app.decorateRequest('work', null);
  const routes = Object.values<PublicRoute>(PUBLIC_ROUTES);
  for (const route of routes) if (route.body !== null) registerRoute(app, deps, route);
  app.register(async (bodiless) => {
    ignoreBodies(bodiless);
    for (const route of routes) if (route.body === null) registerRoute(bodiless, deps, route);
  });
}

function registerRoute(app: FastifyInstance, deps: PublicRouteDeps, route: PublicRoute): void {
  const handler = chooseHandler(deps, route);
  app.route({
    method: route.method,
    url: route.path,
    // Before the body is read: the body of a caller without a key is not received, and 401 precedes 413.
    onRequest: [
      async (request, reply) => await admit(deps, route, { request, reply }),
      (request, _reply, done) => runForAccount(callerOf(request).accountId, done),
    ],
    handler: (request, reply) => {
      // Its client left before the work: its place is given back already.
      if (reply.raw.closed) return reply.hijack();
      // After the body has arrived: who sends slowly holds no place.
      const work = refuseWithoutTurn(reply, async () => {
        if (route.body !== null && performance.now() - request.callerReadMs > CALLER_AGE_MS_MAX)
          requireScope(route, await readCaller(deps, request));
        return await handler(request, reply);
      });
      request.work = work;
      return work;
    },
  });
}

type Exchange = { request: FastifyRequest; reply: FastifyReply };

/** Key, scope, `Idempotency-Key`, in the order of decision 12; what is limited counts every accepted key. */
async function admit(
  deps: PublicRouteDeps,
  route: PublicRoute,
  { request, reply }: Exchange,
): Promise<void> {
  const caller = await readCaller(deps, request);
  keepConnection(request);
  afterRequest({ request, reply }, await deps.admitRequest(caller, reply));
  requireScope(route, caller);
  request.creationId = readCreationId(route, caller, request.raw.rawHeaders);
}

/** @throws AppError `UNAUTHORIZED` for every key that is not accepted */
async function readCaller(deps: PublicRouteDeps, request: FastifyRequest): Promise<Caller> {
  // Not when its answer was handled, for which a busy process may need longer than a caller counts as read.
  const readMs = performance.now();
  const authenticated = await deps.authenticate(request.raw.rawHeaders);
  if (authenticated.caller === null) {
    request.refusedKey = authenticated.refusedKey;
    countUnauthorized('public');
    throw explained('UNAUTHORIZED', 'x-api-key: expected a key that is in use.');
  }
  request.caller = authenticated.caller;
  request.callerReadMs = readMs;
  return authenticated.caller;
}

/** @throws AppError `INSUFFICIENT_SCOPE` */
function requireScope({ scope }: PublicRoute, caller: Caller): void {
  if (scope === null || caller.scopes.includes(scope)) return;
  throw explained('INSUFFICIENT_SCOPE', `Expected a key with ${scope}.`, { details: [scope] });
}

/** A client that leaves does not end what is done for its request, so both ends are waited for. */
function afterRequest({ request, reply }: Exchange, end: () => void): void {
  const endOnce = () => void Promise.allSettled([request.work]).then(end);
  if (reply.raw.closed) endOnce();
  else reply.raw.once('close', endOnce);
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

function chooseHandler(deps: PublicRouteDeps, route: PublicRoute): Handler {
  const { owner } = route;
  if (owner !== 'gateway')
    return (request, reply) => forward(deps, { ...route, owner }, { request, reply });
  const isAnswered = route.path === PUBLIC_ROUTES.getAccount.path;
  assert(isAnswered, `the gateway has no handler for ${route.path}`);
  return async (request, reply) => {
    const body = await getAccount(deps, callerOf(request));
    return reply.code(route.status).type(JSON_TYPE).send(JSON.stringify(body));
  };
}

async function forward(
  deps: PublicRouteDeps,
  route: PublicRoute & { owner: keyof Owners },
  { request, reply }: Exchange,
): Promise<FastifyReply> {
  const caller = callerOf(request);
  const requestId = requestIdOf(reply);
  const { creationId } = request;
  const answer = await forwardRequest(deps, route, { caller, requestId, request, creationId });
  if (answer.mismatch) {
    request.idempotencyMismatch = true;
    reportMismatch(deps.logger, { request_id: requestId, key_id: caller.keyId, route: route.path });
  }
  return relayAnswer(reply, answer);
}

function callerOf(request: FastifyRequest): Caller {
  assert(request.caller, 'the route was admitted');
  return request.caller;
}
