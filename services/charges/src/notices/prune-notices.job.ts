import type { Database } from '@pixmesh/postgres/pool';
import { type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { Logger } from '@pixmesh/telemetry/logger';

import { pruneNotices } from './pix-notices.sql.ts';

/** Notices whose Pix was checked stay this long. */
const STAY_MS = 3_600_000;
const PRUNE_INTERVAL_MS = 60_000;
const PRUNE_BATCH = 5_000;

/** Deletes notices some time after their Pix was checked. */
export function startPruneNotices({ db, logger }: { db: Database; logger: Logger }): PollingLoop {
  return startPollingLoop({
    name: 'prune pix notices',
    logger,
    firstPauseMs: PRUNE_INTERVAL_MS,
    retry: { firstMs: PRUNE_INTERVAL_MS, maxMs: PRUNE_INTERVAL_MS },
    turn: async () => {
      await pruneNotices(db, { olderThanMs: STAY_MS, limit: PRUNE_BATCH });
      return { pauseMs: PRUNE_INTERVAL_MS };
    },
  });
}
