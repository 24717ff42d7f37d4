import { AppError } from '@pixmesh/kernel/app-error';
import { parseId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { parseShape } from './json-request.ts';

const PAGE_LIMIT_DEFAULT = 20;
const PAGE_LIMIT_MAX = 100;

const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  starting_after: z.uuid().optional(),
});

type StoredLetter = {
  id: string;
  consumer: string;
  topic: string;
  partition: number;
  offset: bigint;
  key: string | null;
  code: string;
  reason: string;
  createdAt: Date;
};

type DeadLetterDeps = {
  list(page: { limit: number; startingAfter: string | null }): Promise<StoredLetter[]>;
  /** Handles the message again; false when no such letter is open. */
  replay(id: string): Promise<boolean>;
};

/** `/internal/dead-letters`: what the gateway joins at `/admin/dead-letters`. Values stay inside. */
export function registerDeadLetterRoutes(app: FastifyInstance, deps: DeadLetterDeps): void {
  app.get('/internal/dead-letters', async (request) => {
    const query = parseShape(PageQuery, request.query);
    const letters = await deps.list({
      limit: query.limit,
      startingAfter: query.starting_after ?? null,
    });
    return {
      object: 'list',
      data: letters.map(toResource),
      has_more: letters.length === query.limit,
    };
  });

  app.post<{ Params: { id: string } }>('/internal/dead-letters/:id/replay', async (request) => {
    const id = parseId(request.params.id);
    if (id === null || !(await replay(deps, id))) throw new AppError('NOT_FOUND');
    return { id, object: 'dead_letter', replayed: true };
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

function toResource(letter: StoredLetter): object {
  return {
    id: letter.id,
    object: 'dead_letter',
    consumer: letter.consumer,
    topic: letter.topic,
    partition: letter.partition,
    offset: String(letter.offset),
    key: letter.key,
    code: letter.code,
    reason: letter.reason,
    created_at: letter.createdAt.toISOString(),
  };
}
