import type { Queryable } from '@pixmesh/postgres/pool';
import { type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';

import { postponeChecks } from './payout-checks.sql.ts';

/** Checks that are put off in one statement, and the least time from one to the next. */
const BATCH = 1_000;
const GATHER_MS = 1_000;
/** Without a notification; the job of status checks notifies as often as it asks for routine checks. */
const POLL_INTERVAL_MS = 10_000;

/**
 * Puts off routine checks that the index has as due and that are due later, for as long as the process lives: apart from
 * the job of status checks, so that it keeps none of its places.
 */
export function startPostponingChecks(deps: {
  db: Queryable;
  logger: Logger;
  signal: WakeSignal;
}): PollingLoop {
  const { db, logger, signal } = deps;
  return startPollingLoop({
    name: 'postpone payout checks',
    logger,
    signal,
    turn: async () => {
      await postponeChecks(db, BATCH);
      return { pauseMs: POLL_INTERVAL_MS, gatherMs: GATHER_MS };
    },
  });
}
