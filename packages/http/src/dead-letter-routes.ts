import {
  type DeadLetter,
  DeadLetterFilters,
  DEAD_LETTER_PATHS,
  DismissDeadLetterBody,
} from '@pixmesh/contracts/internal/dead-letters';
import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import { AppError } from '@pixmesh/kernel/app-error';
import { parseId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { describeLetter, inspectLetter, type StoredLetter } from './dead-letter-resource.ts';
import { operatorOf } from './internal-auth.ts';
import { readBody } from './json-request.ts';
import { readListQuery } from './list-page.ts';

export type DeadLetterDeps = {
  list(
    page: DeadLetterFilters & { limit: number; startingAfter: string | null },
  ): Promise<StoredLetter[]>;
  find(id: string): Promise<StoredLetter | null>;
  /** Handles the message again; false when no such letter is open. */
  replay(id: string): Promise<boolean>;
  /** Gives the message up; false when no such letter is open. */
  dismiss(id: string, dismissal: { operatorId: string; reason: string }): Promise<boolean>;
};

/** `/internal/dead-letters`: what the gateway joins at `/admin/dead-letters`. */
export function registerDeadLetterRoutes(app: FastifyInstance, deps: DeadLetterDeps): void {
  app.get(DEAD_LETTER_PATHS.list, async (request) => {
    const { filters, limit, startingAfter } = readListQuery(DeadLetterFilters, request.query);
    const letters = await deps.list({ ...filters, limit: limit + 1, startingAfter });
    return {
      object: 'list',
      data: letters.slice(0, limit).map(describeLetter),
      has_more: letters.length > limit,
    };
  });

  app.get(DEAD_LETTER_PATHS.get, async (request) => inspectLetter(await findLetter(deps, request)));

  app.post(DEAD_LETTER_PATHS.replay, async (request) => {
    const id = readLetterId(request);
    if (id === null || !(await replay(deps, id))) throw new AppError('NOT_FOUND');
    return { id, object: 'dead_letter', replayed: true };
  });

  app.post(DEAD_LETTER_PATHS.dismiss, async (request, reply): Promise<DeadLetter> => {
    const { id } = await findLetter(deps, request);
    const { operator_id: operatorId } = operatorOf(request);
    const { reason } = readBody(DismissDeadLetterBody, request);
    const isDismissed = await deps.dismiss(id, { operatorId, reason });
    const letter = describeLetter(await findLetter(deps, request));
    if (letter.status !== 'dismissed') throw new AppError('CONFLICT', { details: ['status'] });
    // A repeat is marked as one, so that the audit log names only the operator who made the change.
    if (!isDismissed) reply.header(ANSWER_HEADERS.replayed, 'true');
    return letter;
  });
}

/** A letter that is refused again stays open; that is no failure of the service. */
async function replay(deps: DeadLetterDeps, id: string): Promise<boolean> {
  try {
    return await deps.replay(id);
  } catch (error) {
    if (error instanceof AppError && !error.retriable) {
      throw new AppError('CONFLICT', { details: [error.code], cause: error });
    }
    throw error;
  }
}

async function findLetter(deps: DeadLetterDeps, request: FastifyRequest): Promise<StoredLetter> {
  const id = readLetterId(request);
  const letter = id === null ? null : await deps.find(id);
  if (letter === null) throw new AppError('NOT_FOUND');
  return letter;
}

function readLetterId(request: FastifyRequest): string | null {
  return parseId((request.params as { id: string }).id);
}
