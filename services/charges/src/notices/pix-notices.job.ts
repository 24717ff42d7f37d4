import { startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import { type NoticeDeps, checkNotice } from './check-notice.ts';
import { leaseDueNotices, type PixNotice } from './pix-notices.sql.ts';

/** Anybody who knows the callback URL can announce anything: checks are few at once, and a few a second. */
const IN_FLIGHT_MAX = 8;
/** What the acquirer's own list shows. */
const LISTED_BATCH = 8;
const LISTED_INTERVAL_MS = 100;
/** What callbacks announce. */
const ANNOUNCED_BATCH = 4;
const ANNOUNCED_INTERVAL_MS = 200;

/** Checks announced Pix that no charge explains. */
export function startPixNoticesJob(
  deps: NoticeDeps & { leaseMs: number; signal: WakeSignal },
): PollingLoop {
  const { db, logger, signal, leaseMs } = deps;
  return startDueRowsJob<PixNotice>({
    name: 'check announced pix',
    logger,
    signal,
    inFlightMax: IN_FLIGHT_MAX,
    sources: [
      {
        take: (limit) => leaseDueNotices(db, 'requested', { limit, leaseMs }),
        max: LISTED_BATCH,
        intervalMs: LISTED_INTERVAL_MS,
      },
      {
        take: (limit) => leaseDueNotices(db, 'routine', { limit, leaseMs }),
        max: ANNOUNCED_BATCH,
        intervalMs: ANNOUNCED_INTERVAL_MS,
      },
    ],
    handle: (notice) => checkNotice(deps, notice),
    // A caller of the callback URL may have chosen the end-to-end id: it is not logged.
    describe: () => ({}),
    parentOf: (notice) => notice.checkTraceparent,
  });
}
