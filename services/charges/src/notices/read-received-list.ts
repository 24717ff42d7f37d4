import type { Acquirer, ReceivedPix, UnreadableItem } from '@pixmesh/acquirer/client';
import { describeUnreadable } from '@pixmesh/acquirer/describe-unreadable';
import { type ChargeId, fromAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { noticePix } from '#notices/pix-notices.sql.ts';
import { requestChecks } from '#charge/charge-checks.sql.ts';

import { nextWindows, type SweepState } from './next-windows.ts';
import {
  findUnrecorded,
  storeListRun,
  type ListCursor,
  type ListedPix,
  type ListRun,
  moveListCursor,
  releaseListCursor,
} from './received-list.sql.ts';

/** Pages of one run: more wait for the next one, which goes on where this one ended. */
const PAGES_MAX = 200;
/** Pages may lie beyond a list that has become shorter; then its window is read from its start again. */
const REFUSALS: ReadonlySet<string> = new Set(['status_400', 'status_404', 'status_422']);

export type ReceivedListDeps = {
  db: Database;
  logger: Logger;
  acquirer: Pick<Acquirer, 'listReceived'>;
  /** The installation's own Pix key. */
  pixKey: string;
  /** Distance between two runs, and how far each goes back behind the one before. */
  intervalMs: number;
  overlapMs: number;
  /** How long a reader that dies is waited for. */
  leaseMs: number;
  wakeStatusChecks(): void;
  wakeNotices(): void;
};

/**
 * One run of the leased cursor: reads what the acquirer received since the last one, and a piece of the older days,
 * and requests checks of whatever is not recorded (decision 218). It never books anything itself. Every page is stored, so
 * that a window of any length ends, by whichever replica.
 */
export async function readReceivedList(deps: ReceivedListDeps, cursor: ListCursor): Promise<void> {
  const { fresh, sweep } = nextWindows(cursor, deps);
  const end = await readPages(deps, fresh, {
    pagesMax: PAGES_MAX,
    concerns: () => true,
    compareAs: toListed,
    store: (page) =>
      storeListRun(deps.db, cursor, { run: { ...fresh, page }, leaseMs: deps.leaseMs }),
  });
  if (end.kind === 'lost') return;
  if (end.kind === 'unknown') return await endUnread(deps, cursor, { fresh, cause: end.cause });
  const swept = await readPages(deps, sweep, {
    pagesMax: sweep.pagesMax,
    // Foreign money, if there is any, was reported when it was fresh.
    concerns: ({ pixKey }) => pixKey === null || pixKey === deps.pixKey,
    // Checks of its charge have had their time: whatever the acquirer shows of that, the Pix itself is there.
    compareAs: (pix) => ({ ...toListed(pix), chargeId: null }),
    store: () => Promise.resolve(true),
  });
  const isDone = end.kind === 'done';
  await moveListCursor(deps.db, cursor, {
    listedUntil: isDone ? fresh.readAt : cursor.listedUntil,
    unfinished: isDone ? null : { ...fresh, page: end.nextPage },
    ...afterSweep(sweep, swept),
    inMs: isDone ? deps.intervalMs : 0,
  });
}

/** What was stored of the window stays, unless the acquirer refuses to go on with it. */
async function endUnread(
  deps: ReceivedListDeps,
  cursor: ListCursor,
  { fresh, cause }: { fresh: ListRun; cause: string },
): Promise<void> {
  const inMs = deps.intervalMs;
  if (fresh.page === 0 || !REFUSALS.has(cause)) {
    return await releaseListCursor(deps.db, cursor, inMs);
  }
  await moveListCursor(deps.db, cursor, { ...cursor, unfinished: null, inMs });
}

/** Where the walk over older days goes on: the same window while it has pages, or cannot be read. */
function afterSweep(
  sweep: SweepState,
  swept: PagesRead,
): Pick<ListCursor, 'sweepFrom' | 'sweepPage'> {
  if (swept.kind === 'done') return { sweepFrom: sweep.next, sweepPage: 0 };
  const page = swept.kind === 'more' ? swept.nextPage : sweep.page;
  return { sweepFrom: sweep.window.from, sweepPage: page };
}

type PagesRead =
  | { kind: 'done' }
  | { kind: 'more'; nextPage: number }
  | { kind: 'unknown'; cause: string }
  /** Another process has the lease: this one was taken for dead. */
  | { kind: 'lost' };

type Reading = {
  pagesMax: number;
  concerns(pix: ReceivedPix): boolean;
  compareAs(pix: ReceivedPix): ListedPix;
  /** Called after each page that has another one behind it; false ends the reading. */
  store(nextPage: number): Promise<boolean>;
};

async function readPages(
  deps: ReceivedListDeps,
  { window, page: first }: { window: { from: Date; to: Date }; page: number },
  { pagesMax, concerns, compareAs, store }: Reading,
): Promise<PagesRead> {
  for (let page = first; page < first + pagesMax; page += 1) {
    const outcome = await deps.acquirer.listReceived({ ...window, page });
    if (outcome.kind === 'unknown') {
      deps.logger.warn({ cause: outcome.cause }, 'received Pix list: acquirer unavailable');
      return outcome;
    }
    if (outcome.unreadable.length > 0) {
      const fields = describeUnreadable(page, outcome.unreadable);
      deps.logger.error(fields, 'received Pix list: unreadable items');
    }
    const readable = outcome.items.filter(concerns).map(compareAs);
    await requestUnrecorded(deps, [...readable, ...outcome.unreadable.flatMap(toUnread)]);
    if (!outcome.hasMore) return { kind: 'done' };
    if (!(await store(page + 1))) return { kind: 'lost' };
  }
  return { kind: 'more', nextPage: first + pagesMax };
}

async function requestUnrecorded(
  deps: ReceivedListDeps,
  page: readonly ListedPix[],
): Promise<void> {
  const { charges, unexplained } = await findUnrecorded(deps.db, page);
  if ((await requestChecks(deps.db, charges)) > 0) deps.wakeStatusChecks();
  if (unexplained.length === 0) return;
  await noticePix(deps.db, unexplained, { notFoundMs: 0 });
  deps.wakeNotices();
}

function toListed({ endToEndId, txid, returns }: ReceivedPix): ListedPix {
  return {
    endToEndId,
    chargeId: txid === null ? null : fromAcquirerId<ChargeId>(txid),
    returnIds: returns.filter(({ status }) => status === 'returned').map(({ id }) => id),
  };
}

/** Whose Pix it is cannot be read from the list: a check of the Pix itself is repeated until it can. */
function toUnread({ endToEndId }: UnreadableItem): ListedPix[] {
  return endToEndId === null ? [] : [{ endToEndId, chargeId: null, returnIds: [] }];
}
