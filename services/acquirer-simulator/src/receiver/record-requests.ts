import type { Queryable } from '@pixmesh/postgres/pool';

import { deleteRequests, insertRequests, type NewRequest } from './receiver-requests.sql.ts';

/** Resolves once the request is durable: only then may it be answered. */
export type RecordRequest = (request: NewRequest) => Promise<void>;

const BATCH_MAX = 500;
/** Requests that are kept; older ones are dropped. */
const REQUESTS_MAX = 200_000;
/** How many may be over the limit until they are dropped together. */
const PRUNE_EVERY = 5_000;

type Waiting = { request: NewRequest; settle: PromiseWithResolvers<void> };

/**
 * Stores requests in batches: whatever arrives while one batch is being written makes the next. One batch at a
 * time also means that numbers become visible in their order.
 */
export function createRequestRecorder(db: Queryable): RecordRequest {
  let waiting: Waiting[] = [];
  let writing = false;
  let pruneAt = 0;
  return async (request) => {
    const settle = Promise.withResolvers<void>();
    waiting.push({ request, settle });
    if (!writing) void writeAll();
    await settle.promise;
  };

  async function writeAll(): Promise<void> {
    writing = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      await write(batch);
    }
    writing = false;
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    try {
      const last = await insertRequests(
        db,
        batch.map(({ request }) => request),
      );
      for (const { settle } of batch) settle.resolve();
      await prune(last);
    } catch (error) {
      for (const { settle } of batch) settle.reject(error);
    }
  }

  async function prune(last: number): Promise<void> {
    if (last < pruneAt) return;
    pruneAt = last + PRUNE_EVERY;
    await deleteRequests(db, { path: null, upTo: last - REQUESTS_MAX });
  }
}
