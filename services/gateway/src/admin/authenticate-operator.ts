import { createHash, timingSafeEqual } from 'node:crypto';

import { explained, invalidRequest } from '@pixmesh/http/refusal';
import type { AppError } from '@pixmesh/kernel/app-error';
import { type OperatorId, parseId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { readHeader } from '#edge/read-header.ts';
import { keepConnection } from '#edge/idle-connections.ts';
import { countUnauthorized } from '#reports.ts';

import { findOperatorByDigest, findOperator } from './operators.sql.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who the audit log names: id of an operator, or `bootstrap`. Empty until the token is accepted. */
    actor: string;
  }
}

const BOOTSTRAP_ACTOR = 'bootstrap';
/** What owners know the bootstrap operator by: no row can have this id, since rows are UUIDv7 of the present. */
export const BOOTSTRAP_OPERATOR_ID = '00000000-0000-7000-8000-000000000001' as OperatorId;
const ACT_FOR_HEADER = 'X-Operator';
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

export type OperatorAuthDeps = {
  db: Database;
  /** Undefined where there is no bootstrap operator. */
  bootstrapToken: string | undefined;
  /** Outside production the bootstrap operator may speak for another one, so that tests need no tokens. */
  mayActForOthers: boolean;
};

/** The stored form of a token: it has at least 160 random bits, so a plain hash hides it. */
export function digestToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The operator as owners of resources know it, who compare requester and approver (decision 123). */
export function operatorIdOf(request: FastifyRequest): OperatorId {
  const { actor } = request;
  return actor === BOOTSTRAP_ACTOR ? BOOTSTRAP_OPERATOR_ID : (actor as OperatorId);
}

/** Refuses every request of this context that carries no token of an operator. */
export function requireOperator(app: FastifyInstance, deps: OperatorAuthDeps): void {
  const { bootstrapToken } = deps;
  const bootstrapDigest = bootstrapToken === undefined ? null : digestToken(bootstrapToken);
  app.decorateRequest('actor', '');
  app.addHook('onRequest', async (request) => {
    const actor = await findActor(deps, bootstrapDigest, request);
    if (actor === null) {
      countUnauthorized('admin');
      throw explained(
        'UNAUTHORIZED',
        'Authorization: expected Bearer and the token of an operator.',
      );
    }
    request.actor = actor;
    keepConnection(request);
  });
}

async function findActor(
  deps: OperatorAuthDeps,
  bootstrapDigest: Buffer | null,
  request: FastifyRequest,
): Promise<string | null> {
  const { rawHeaders } = request.raw;
  const header = readHeader(rawHeaders, 'authorization');
  const token = header.kind === 'one' ? BEARER.exec(header.value)?.[1] : undefined;
  if (token === undefined) return null;
  const digest = digestToken(token);
  if (bootstrapDigest !== null && timingSafeEqual(digest, bootstrapDigest)) {
    return await bootstrapActor(deps, rawHeaders);
  }
  const operator = await findOperatorByDigest(deps.db, digest);
  if (operator === null) return null;
  refuseActingForOthers(rawHeaders);
  return operator.id;
}

async function bootstrapActor(
  deps: OperatorAuthDeps,
  rawHeaders: readonly string[],
): Promise<string> {
  const header = readHeader(rawHeaders, ACT_FOR_HEADER.toLowerCase());
  if (header.kind === 'missing') return BOOTSTRAP_ACTOR;
  const id = header.kind === 'one' ? parseId(header.value) : null;
  const operator = deps.mayActForOthers && id !== null ? await findOperator(deps.db, id) : null;
  if (operator === null) throw actForFault('the id of an operator, outside of production');
  return operator.id;
}

/** Ignoring the header would attribute a change to an operator who did not mean to make it. */
function refuseActingForOthers(rawHeaders: readonly string[]): void {
  if (readHeader(rawHeaders, ACT_FOR_HEADER.toLowerCase()).kind === 'missing') return;
  throw actForFault('no such header: only the bootstrap operator may speak for others');
}

function actForFault(expected: string): AppError {
  return invalidRequest({ name: ACT_FOR_HEADER, expected });
}
