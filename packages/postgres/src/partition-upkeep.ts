import { type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { Logger } from '@pixmesh/telemetry/logger';

import { observePartitions } from './observe-partitions.ts';
import type { Database } from './pool.ts';
import { named, sql } from './sql.ts';

/** Partitions stand this far ahead, so that upkeep may fail for months before a row finds none. */
const MONTHS_AHEAD = 12;
const CHECK_INTERVAL_MS = 60 * 60 * 1000;
/** A reader's transaction that is in the way ends sooner than an hour. */
const RETRY = { firstMs: 5_000, maxMs: CHECK_INTERVAL_MS };

/**
 * Keeps the monthly partitions of `events` a year ahead, apart from what publishes: whatever upkeep waits for,
 * messages go on.
 */
export function startPartitionUpkeep({
  db,
  logger,
}: {
  db: Database;
  logger: Logger;
}): PollingLoop {
  observePartitions(db, ['events']);
  return startPollingLoop({
    name: 'partition upkeep',
    logger,
    retry: RETRY,
    turn: async () => {
      await ensureEventPartitions(db);
      return { pauseMs: CHECK_INTERVAL_MS };
    },
  });
}

/** Creates the partitions of the months to come; the function runs with the rights of the schema's owner. */
export async function ensureEventPartitions(db: Database): Promise<void> {
  await db.query(named('event_partitions', sql`select ensure_event_partitions(${MONTHS_AHEAD})`));
}
