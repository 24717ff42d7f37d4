import { timeOfId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import { continueFrom } from '@pixmesh/telemetry/tracing';

import { reportLogRowsDropped } from '#reports.ts';

import type { LoggedRequest } from './logged-request.ts';
import { insertRequests } from './requests.sql.ts';

/** Rows of one statement. */
const FLUSH_ROWS_MAX = 500;
/** How long a row waits for others at most. */
const FLUSH_INTERVAL_MS = 250;
/** Rows in memory while the database is away: some minutes of a busy installation. */
const QUEUE_ROWS_MAX = 20_000;

export type RequestLog = AsyncDisposable & {
  /** Never waits and never throws: the log must not touch an answer. */
  record(request: Omit<LoggedRequest, 'id' | 'createdAt'>): void;
};

/**
 * Collects rows in memory and writes them in batches; on dispose, what is left. The request's own id is the id of
 * its row, so that the id on an answer finds the row by primary key.
 */
export function startRequestLog(deps: { db: Database; logger: Logger }): RequestLog {
  let queue: LoggedRequest[] = [];
  let timer: NodeJS.Timeout | null = null;
  let flushing: Promise<void> | null = null;
  let isFailing = false;
  return { record, [Symbol.asyncDispose]: stop };

  function record(request: Omit<LoggedRequest, 'id' | 'createdAt'>): void {
    if (queue.length >= QUEUE_ROWS_MAX) dropOldest(FLUSH_ROWS_MAX);
    const { requestId: id } = request;
    queue.push({ ...request, id, createdAt: timeOfId(id) });
    if (queue.length === FLUSH_ROWS_MAX) flush();
    else schedule();
  }

  function schedule(): void {
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      flush();
    }, FLUSH_INTERVAL_MS);
    timer.unref();
  }

  /** Writes what waits, unless that is under way; what is less than a batch waits for more. */
  function flush(): void {
    // A batch is of many requests, and belongs to none of them.
    flushing ??= continueFrom(null, writeBatches).finally(() => {
      flushing = null;
    });
  }

  async function writeBatches(): Promise<void> {
    while ((await writeBatch()) && queue.length >= FLUSH_ROWS_MAX);
    if (queue.length > 0) schedule();
  }

  /** A batch that failed goes back to the front; its ids keep it from being written twice. */
  async function writeBatch(): Promise<boolean> {
    const batch = queue.slice(0, FLUSH_ROWS_MAX);
    if (batch.length === 0) return true;
    queue = queue.slice(batch.length);
    try {
      await insertRequests(deps.db, batch);
      isFailing = false;
      return true;
    } catch (error) {
      // Once for each outage: it is tried again several times a second.
      if (!isFailing) {
        deps.logger.warn({ err: error, rows: batch.length }, 'request log rows not written');
      }
      if (isRefusal(error)) {
        reportLogRowsDropped(deps.logger, batch.length);
        return true;
      }
      isFailing = true;
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
    await flushing;
    if (timer !== null) clearTimeout(timer);
    while (queue.length > 0 && (await writeBatch()));
    if (queue.length > 0) dropOldest(queue.length);
  }
}

/**
 * Whether the database refused these rows (SQLSTATE classes 22, 23). Tried again they would stand before all
 * others for ever: a row of a clock that is weeks ahead has no partition.
 */
function isRefusal(error: unknown): boolean {
  return /^2[23]/.test(String((error as { code?: unknown }).code));
}
