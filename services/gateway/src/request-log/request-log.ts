import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { reportLogRowsDropped } from '#events.ts';

import { insertRequests } from './requests.sql.ts';

/** Rows of one statement. */
const FLUSH_ROWS_MAX = 500;
/** How long a row waits for others at most. */
const FLUSH_INTERVAL_MS = 250;
/** Rows kept while the database is away: some minutes of a busy installation. */
const QUEUE_ROWS_MAX = 20_000;

/** One request as it was answered (design section 5, request log). */
export type LoggedRequest = {
  id: string;
  /** Null where the request was not authenticated. */
  caller: { accountId: string; applicationId: string; keyId: string } | null;
  method: string;
  /** The template, never the path: paths hold ids. */
  route: string;
  status: number;
  durationMs: number;
  requestId: string;
  idempotencyMismatch: boolean;
  createdAt: Date;
};

export type RequestLog = AsyncDisposable & {
  /** Never waits and never throws: the log must not touch an answer. */
  record(request: Omit<LoggedRequest, 'id' | 'createdAt'>): void;
};

/** Collects rows in memory and writes them in batches; on dispose, what is left. */
export function startRequestLog(deps: { db: Database; logger: Logger }): RequestLog {
  let queue: LoggedRequest[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<boolean> | null = null;
  return { record, [Symbol.asyncDispose]: stop };

  function record(request: Omit<LoggedRequest, 'id' | 'createdAt'>): void {
    if (queue.length >= QUEUE_ROWS_MAX) dropOldest(FLUSH_ROWS_MAX);
    queue.push({ ...request, id: newId(), createdAt: new Date() });
    if (queue.length === FLUSH_ROWS_MAX) void flush();
    else schedule();
  }

  function schedule(): void {
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      void flush();
    }, FLUSH_INTERVAL_MS);
    timer.unref();
  }

  /** Writes one batch unless one is being written; what arrived meanwhile follows at once. */
  async function flush(): Promise<void> {
    if (writing !== null) return;
    writing = writeBatch();
    const written = await writing;
    writing = null;
    if (queue.length === 0) return;
    if (written && queue.length >= FLUSH_ROWS_MAX) void flush();
    else schedule();
  }

  /** A batch that failed goes back to the front; its ids keep it from being written twice. */
  async function writeBatch(): Promise<boolean> {
    const batch = queue.slice(0, FLUSH_ROWS_MAX);
    if (batch.length === 0) return true;
    queue = queue.slice(batch.length);
    try {
      await insertRequests(deps.db, batch);
      return true;
    } catch (error) {
      deps.logger.warn({ err: error, rows: batch.length }, 'the request log could not be written');
      queue = [...batch, ...queue];
      const excess = queue.length - QUEUE_ROWS_MAX;
      if (excess > 0) dropOldest(excess);
      return false;
    }
  }

  function dropOldest(rows: number): void {
    queue = queue.slice(rows);
    reportLogRowsDropped(deps.logger, rows);
  }

  async function stop(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    await writing;
    while (queue.length > 0 && (await writeBatch()));
    if (queue.length > 0) dropOldest(queue.length);
  }
}
