import { type NextTurn, type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { Logger } from '@pixmesh/telemetry/logger';

/** Histories are kept in weeks, so an hour late means nothing. */
const CHECK_INTERVAL_MS = 60 * 60 * 1000;
/** A drop gives way at once to a transaction that reads, so it is tried again soon. */
const RETRY = { firstMs: 5_000, maxMs: CHECK_INTERVAL_MS };

type RetentionOptions = {
  logger: Logger;
  /** What is kept, as the log names it. */
  history: string;
  keepDays: number;
  /** Makes partitions for what is to come and drops those that are old as a whole; answers how many were dropped. */
  keep(): Promise<number>;
};

/**
 * Enforces the retention of a partitioned history: once at the start and then every hour, in every process. Who finds
 * the lease taken leaves the work to its holder.
 */
export function startRetention(options: RetentionOptions): PollingLoop {
  const { logger, history, keepDays, keep } = options;
  return startPollingLoop({
    name: `${history} retention`,
    logger,
    turn,
    retry: RETRY,
  });

  async function turn(): Promise<NextTurn> {
    const dropped = await keep();
    if (dropped > 0)
      logger.info({ history, dropped, keep_days: keepDays }, 'old partitions dropped');
    return { pauseMs: CHECK_INTERVAL_MS };
  }
}
