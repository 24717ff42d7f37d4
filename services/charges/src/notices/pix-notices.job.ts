import { type DueRowsJob, startDueRowsJob } from '@pixmesh/postgres/due-rows-job';

import { type NoticeDeps, lookAtNotice } from './check-notice.ts';
import { leaseDueNotices, type PixNotice, pruneNotices } from './pix-notices.sql.ts';

/** Anybody who knows the callback URL can announce anything: looks are few at once, and a few a second. */
const IN_FLIGHT_MAX = 8;
/** What the acquirer's own list shows. */
const LISTED_BATCH = 8;
const LISTED_INTERVAL_MS = 100;
/** What callbacks say. */
const ANNOUNCED_BATCH = 4;
const ANNOUNCED_INTERVAL_MS = 200;

/** Notices that were looked at are kept this long. */
const KEPT_MS = 3_600_000;
const PRUNE_INTERVAL_MS = 60_000;
const PRUNE_BATCH = 5_000;

/** Looks at announced Pix that no charge explains, and forgets them after a while. */
export function startPixNoticesJob(deps: NoticeDeps & { leaseMs: number }): DueRowsJob {
  const { db, logger, leaseMs } = deps;
  const job = startDueRowsJob<PixNotice>({
    name: 'look at announced pix',
    logger,
    inFlightMax: IN_FLIGHT_MAX,
    intakes: [
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
    handle: (notice) => lookAtNotice(deps, notice),
    // An end-to-end id is what somebody else chose.
    describe: () => ({}),
    parentOf: (notice) => notice.checkTraceparent,
  });
  const pruning = setInterval(() => {
    pruneNotices(db, { olderThanMs: KEPT_MS, limit: PRUNE_BATCH }).catch((error: unknown) => {
      logger.warn({ err: error }, 'old notices wait to be pruned');
    });
  }, PRUNE_INTERVAL_MS);
  return {
    ...job,
    stop: async () => {
      clearInterval(pruning);
      await job.stop();
    },
  };
}
