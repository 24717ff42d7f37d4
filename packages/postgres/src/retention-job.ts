import { type NextTurn, type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { Logger } from '@pixmesh/telemetry/logger';

import { observePartitions } from './observe-partitions.ts';
import type { Database } from './pool.ts';

/** Histories are kept in weeks, so an hour late means nothing. */
const CHECK_INTERVAL_MS = 60 * 60 * 1000;
/** A drop gives way at once to a transaction that reads, so it is tried again soon. */
const RETRY = { firstMs: 5_000, maxMs: CHECK_INTERVAL_MS };

/** How many partitions were dropped, and whether nothing is left that should be done soon. */
export type Kept = { dropped: number; isDone: boolean };

type RetentionOptions = {
  db: Database;
  logger: Logger;
  /** What is kept, as the log names it. */
  history: string;
  /** The partitioned tables that it is kept in. */
  tables: readonly string[];
  keepDays: number;
  /** Makes partitions for what is to come and drops those that are old as a whole. */
  keep(): Promise<Kept>;
};

/**
 * Enforces the retention of a partitioned history: once at the start and then every hour, in every process. Who finds
 * the lease taken leaves the work to its holder.
 */
export function startRetention(options: RetentionOptions): PollingLoop {
  const { db, logger, history, tables, keepDays, keep } = options;
  observePartitions(db, tables);
  return startPollingLoop({
    name: `${history} retention`,
    logger,
    turn,
    retry: RETRY,
  });

  async function turn(): Promise<NextTurn> {
    const { dropped, isDone } = await keep();
    if (dropped > 0)
      logger.info({ history, dropped, keep_days: keepDays }, 'old partitions dropped');
    return { pauseMs: isDone ? CHECK_INTERVAL_MS : 0 };
  }
}
