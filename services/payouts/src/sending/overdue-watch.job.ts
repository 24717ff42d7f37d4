import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { observeOverdue, payoutsOverdue } from '#events.ts';

import { countOverdue } from './overdue.sql.ts';

const WATCH_INTERVAL_MS = 30_000;

/** Tells operators of payouts that wait for too long; age alone never ends one (decision 118). */
export function startOverdueWatch(deps: { db: Database; logger: Logger }): { stop(): void } {
  observeOverdue(() => countOverdue(deps.db));
  const timer = setInterval(() => {
    countOverdue(deps.db).then(
      (overdue) => payoutsOverdue(deps.logger, overdue),
      (error: unknown) => deps.logger.warn({ err: error }, 'overdue payouts cannot be counted'),
    );
  }, WATCH_INTERVAL_MS);
  return { stop: () => clearInterval(timer) };
}
