import assert from 'node:assert';
import { createHash } from 'node:crypto';

import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import { AppError } from '@pixmesh/kernel/app-error';
import { deriveResourceId, newId } from '@pixmesh/kernel/ids';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { readOptionalIdempotencyKey } from '#authentication/read-idempotency-key.ts';

/** How a creation under `/admin` ended; `created` carries what only the first answer may show. */
export type CreatedOnce<Stored> = { stored: Stored; replayed: boolean; mismatch: boolean };

type CreateSteps<Body, Stored> = {
  find(): Promise<Stored | null>;
  /** Parses the request's body; throws when it is invalid. */
  readBody(): Body;
  fingerprint(body: Body): Buffer;
  /** Inserts under the derived id; null when that id was taken meanwhile. */
  insert(body: Body, fingerprint: Buffer): Promise<Stored | null>;
};

/** The id of a creation, from the `Idempotency-Key` where one was sent (ADR 0001, decision 229). */
export function readAdminCreationId(
  request: FastifyRequest,
  accountId: string,
  resource: 'application' | 'key' | 'payout' | 'charge' | 'recovery',
): { id: string; repeatable: boolean } {
  const key = readOptionalIdempotencyKey(request.raw.rawHeaders);
  if (key === null) return { id: newId(), repeatable: false };
  return { id: deriveResourceId(accountId, resource, key), repeatable: true };
}

/**
 * Insert, or return what is there: the primary key is the lock, so that parallel calls with one key make one
 * resource. What exists is answered before the body is read (decisions 52, 253).
 */
export async function createOnce<Body, Stored extends { fingerprint: Buffer }>(
  repeatable: boolean,
  steps: CreateSteps<Body, Stored>,
): Promise<CreatedOnce<Stored>> {
  const existing = repeatable ? await steps.find() : null;
  if (existing !== null) return replay(existing, fingerprintOrNull(steps));
  const body = steps.readBody();
  const fingerprint = steps.fingerprint(body);
  const stored = await steps.insert(body, fingerprint);
  if (stored !== null) return { stored, replayed: false, mismatch: false };
  const winner = await steps.find();
  assert(winner, 'a taken id belongs to a stored resource');
  return replay(winner, fingerprint);
}

/** Digest of a normalised body and the parent it is for. */
export function fingerprintOf(parentId: string, body: object): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([parentId, body]))
    .digest();
}

export function markReplay(reply: FastifyReply, outcome: CreatedOnce<unknown>): void {
  if (outcome.replayed) reply.header(ANSWER_HEADERS.replayed, 'true');
  if (outcome.mismatch) reply.header(ANSWER_HEADERS.mismatch, 'true');
}

function replay<Stored extends { fingerprint: Buffer }>(
  stored: Stored,
  fingerprint: Buffer | null,
): CreatedOnce<Stored> {
  const mismatch = fingerprint === null || !stored.fingerprint.equals(fingerprint);
  return { stored, replayed: true, mismatch };
}

/** A body that cannot be parsed counts as a different one (decision 44). */
function fingerprintOrNull<Body>(
  steps: Pick<CreateSteps<Body, unknown>, 'readBody' | 'fingerprint'>,
): Buffer | null {
  try {
    return steps.fingerprint(steps.readBody());
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
