import type { Acquirer, ReceivedPix } from '@pixmesh/acquirer/client';
import { type ChargeId, fromAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { noticePix } from '#notices/pix-notices.sql.ts';
import { requestChecks } from '#read-back/read-back.sql.ts';

import { nextWindows, type SweepState } from './next-windows.ts';
import {
  findUnrecorded,
  type ListCursor,
  type ListedPix,
  moveListCursor,
  releaseListCursor,
} from './received-list.sql.ts';

/** Pages of one run: more wait for the next one, which goes on where this one ended. */
const PAGES_MAX = 200;

export type ReceivedListDeps = {
  db: Database;
  logger: Logger;
  acquirer: Pick<Acquirer, 'listReceived'>;
  /** The installation's own Pix key. */
  pixKey: string;
  /** Distance between two runs, and how far each goes back behind the one before. */
  intervalMs: number;
  overlapMs: number;
  kickReadBack(): void;
  kickNotices(): void;
};

/**
 * One run of the leased cursor: reads what the acquirer received since the last one, and a piece of the older days,
 * and asks for looks at whatever is not recorded (decision 218). It never books anything itself.
 */
export async function readReceivedList(deps: ReceivedListDeps, cursor: ListCursor): Promise<void> {
  const { fresh, sweep } = nextWindows(cursor, deps);
  const all = (_pix: ReceivedPix) => true;
  const end = await readPages(deps, fresh, { page: 0, pagesMax: PAGES_MAX, concerns: all });
  if (end === 'unknown') return await releaseListCursor(deps.db, cursor, deps.intervalMs);
  if (end !== 'done') {
    const fields = { pages: PAGES_MAX };
    deps.logger.error(fields, 'the list of received Pix is longer than one run reads');
  }
  // Others' money, if there is any, was reported when it was fresh.
  const ours = ({ pixKey }: ReceivedPix) => pixKey === null || pixKey === deps.pixKey;
  const swept = await readPages(deps, sweep.window, { ...sweep, concerns: ours });
  await moveListCursor(deps.db, cursor, {
    listedUntil: end === 'done' ? cursor.readAt : cursor.listedUntil,
    ...afterSweep(sweep, swept),
    inMs: deps.intervalMs,
  });
}

/** Where the walk over older days goes on: the same window while it has pages, or cannot be read. */
function afterSweep(
  sweep: SweepState,
  swept: PagesRead,
): Pick<ListCursor, 'sweepFrom' | 'sweepPage'> {
  if (swept === 'done') return { sweepFrom: sweep.next, sweepPage: 0 };
  const page = swept === 'unknown' ? sweep.page : swept.nextPage;
  return { sweepFrom: sweep.window.from, sweepPage: page };
}

type PagesRead = 'done' | 'unknown' | { nextPage: number };

async function readPages(
  deps: ReceivedListDeps,
  window: { from: Date; to: Date },
  {
    page: first,
    pagesMax,
    concerns,
  }: { page: number; pagesMax: number; concerns: (pix: ReceivedPix) => boolean },
): Promise<PagesRead> {
  for (let page = first; page < first + pagesMax; page += 1) {
    const outcome = await deps.acquirer.listReceived({ ...window, page });
    if (outcome.kind === 'unknown') {
      deps.logger.warn({ cause: outcome.cause }, 'the list of received Pix cannot be read');
      return 'unknown';
    }
    await askForLooks(deps, outcome.items.filter(concerns).map(toListed));
    if (!outcome.hasMore) return 'done';
  }
  return { nextPage: first + pagesMax };
}

async function askForLooks(deps: ReceivedListDeps, page: readonly ListedPix[]): Promise<void> {
  const { charges, strangers } = await findUnrecorded(deps.db, page);
  if ((await requestChecks(deps.db, charges)) > 0) deps.kickReadBack();
  if (strangers.length === 0) return;
  await noticePix(deps.db, strangers);
  deps.kickNotices();
}

function toListed({ endToEndId, txid, returns }: ReceivedPix): ListedPix {
  return {
    endToEndId,
    chargeId: txid === null ? null : fromAcquirerId<ChargeId>(txid),
    returnIds: returns.filter(({ status }) => status === 'returned').map(({ id }) => id),
  };
}
