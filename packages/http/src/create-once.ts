import assert from 'node:assert';

import { AppError } from '@pixmesh/kernel/app-error';

/** How a creation ended that may be repeated. `mismatch`: the repeat has another body. */
export type CreatedOnce<Stored> = { stored: Stored; replayed: boolean; mismatch: boolean };

type CreateSteps<Body, Stored> = {
  find(): Promise<Stored | null>;
  /** Parses the request's body; throws when it is invalid. */
  readBody(): Body;
  fingerprint(body: Body): Buffer;
  /** Inserts under the derived id; null when that id was taken meanwhile. */
  insert(body: Body, fingerprint: Buffer): Promise<Stored | null>;
};

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
