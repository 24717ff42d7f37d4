import type { Database } from '@pixmesh/postgres/pool';
import { type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { Logger } from '@pixmesh/telemetry/logger';

import { observeDue, observeOverdue, payoutsOverdue } from '#reports.ts';

import { countOverdue, sumDue } from './overdue.sql.ts';

const WATCH_INTERVAL_MS = 30_000;

/** Reports payouts that wait for too long; age alone never ends one (decision 118). */
export function startOverdueWatch({ db, logger }: { db: Database; logger: Logger }): PollingLoop {
  observeOverdue(() => countOverdue(db));
  observeDue(() => sumDue(db));
  return startPollingLoop({
    name: 'watch overdue payouts',
    logger,
    firstPauseMs: WATCH_INTERVAL_MS,
    retry: { firstMs: WATCH_INTERVAL_MS, maxMs: WATCH_INTERVAL_MS },
    turn: async () => {
      payoutsOverdue(logger, await countOverdue(db));
      return { pauseMs: WATCH_INTERVAL_MS };
    },
  });
}
