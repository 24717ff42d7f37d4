import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { type Deadline, deadlineFrom } from '@pixmesh/http/deadline';
import { AppError } from '@pixmesh/kernel/app-error';
import { type HoldId, parseId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';

import type { Outcome } from '#commands/outcome.ts';

/** Longer than any caller waits for a hold. */
const HOLD_MS_MAX = 10_000;

/** @throws AppError `NOT_FOUND` for what can be no hold's id */
export function holdIdOf(text: string): HoldId {
  const holdId = parseId<HoldId>(text);
  if (holdId === null) throw new AppError('NOT_FOUND');
  return holdId;
}

/** @throws AppError `CONFLICT` when the hold's id stands for another hold */
export function decidedOrThrow(outcome: Outcome): Extract<Outcome, { kind: 'decided' }> {
  if (outcome.kind === 'decided') return outcome;
  const code = outcome.reason === 'unwritable' ? 'INTERNAL_ERROR' : 'CONFLICT';
  throw new AppError(code, { message: outcome.message });
}

/** Until when the caller waits for its answer. */
export function deadlineOf(request: FastifyRequest): Deadline {
  return deadlineFrom(request.headers[INTERNAL_HEADERS.timeoutMs], HOLD_MS_MAX);
}
