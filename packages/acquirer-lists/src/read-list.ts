import { describeUnreadable } from '@pixmesh/acquirer/describe-unreadable';
import { assertNever } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import {
  type ListCursor,
  moveListCursor,
  releaseListCursor,
  storeListRun,
} from './list-cursor.sql.ts';
import type { ListReading } from './list-reading.ts';
import { afterWindow, type ListRun, nextRun } from './plan-windows.ts';

/** Pages may lie beyond a list that has become shorter; then its window is read from its start again. */
const REFUSALS: ReadonlySet<string> = new Set(['status_400', 'status_404', 'status_422']);

export type ReadListDeps = {
  db: Database;
  logger: Logger;
  /** How long a reader that dies is waited for: for one page, after which the lease is renewed. */
  leaseMs: number;
  /** Aborted where the process is to end: the run ends behind its page, for another one to go on. */
  stopping: AbortSignal;
};

/**
 * One run of a leased cursor: reads pages of its window and has each compared. Nothing is booked from a list; what
 * differs is checked by itself (decision 218). Every page is stored, so that a window of any length ends, by whichever
 * replica.
 */
export async function readList<Item>(
  deps: ReadListDeps,
  reading: ListReading<Item>,
  cursor: ListCursor,
): Promise<void> {
  const run = nextRun(reading, cursor);
  const { listedUntil } = cursor;
  const { intervalMs, windows } = reading;
  const end = await readPages(deps, reading, { cursor, run });
  switch (end.kind) {
    case 'done': {
      const next = afterWindow(reading, { listedUntil, run });
      return await moveListCursor(deps.db, cursor, { ...next, inMs: intervalMs });
    }
    case 'more': {
      const rest = { ...run, page: end.page };
      // What is new is urgent, however much it is; a walk keeps to its pages a run.
      const inMs = windows.kind === 'fresh' ? 0 : intervalMs;
      return await moveListCursor(deps.db, cursor, { listedUntil, run: rest, inMs });
    }
    case 'unknown': {
      const isRefusal = run.page > 0 && REFUSALS.has(end.cause);
      if (!isRefusal) return await releaseListCursor(deps.db, cursor, intervalMs);
      const again = { ...run, page: 0 };
      return await moveListCursor(deps.db, cursor, { listedUntil, run: again, inMs: intervalMs });
    }
    case 'lost':
      return;
    default:
      return assertNever(end);
  }
}

type PagesRead =
  | { kind: 'done' }
  | { kind: 'more'; page: number }
  | { kind: 'unknown'; cause: string }
  /** Another process has the lease: this one was taken for dead. */
  | { kind: 'lost' };

async function readPages<Item>(
  deps: ReadListDeps,
  reading: ListReading<Item>,
  { cursor, run }: { cursor: ListCursor; run: ListRun },
): Promise<PagesRead> {
  const { db, logger, leaseMs, stopping } = deps;
  const endPage = run.page + reading.pagesMax;
  for (let page = run.page; page < endPage; page += 1) {
    const outcome = await reading.read({ ...run.window, page });
    if (outcome.kind === 'unknown') {
      logger.warn({ cause: outcome.cause, list: reading.name }, 'list: acquirer unavailable');
      return outcome;
    }
    const { items, unreadable, hasMore } = outcome;
    if (unreadable.length > 0) {
      const fields = { ...describeUnreadable(page, unreadable), list: reading.name };
      logger.error(fields, 'list: unreadable items');
    }
    await reading.compare(items, unreadable);
    if (!hasMore) return { kind: 'done' };
    if (stopping.aborted) return { kind: 'more', page: page + 1 };
    const isOurs = await storeListRun(db, cursor, { run: { ...run, page: page + 1 }, leaseMs });
    if (!isOurs) return { kind: 'lost' };
  }
  return { kind: 'more', page: endPage };
}
