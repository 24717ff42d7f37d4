import type { Logger } from '@pixmesh/telemetry/logger';

/** Histories are kept in weeks, so an hour late means nothing. */
const CHECK_INTERVAL_MS = 60 * 60 * 1000;

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
 * the lease taken leaves the work to its holder. A failure costs an hour, for which partitions stand ready.
 */
export function startRetention(options: RetentionOptions): AsyncDisposable {
  let running = keepOnce(options);
  const timer = setInterval(() => {
    running = running.then(() => keepOnce(options));
  }, CHECK_INTERVAL_MS);
  timer.unref();
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

async function keepOnce({ logger, history, keepDays, keep }: RetentionOptions): Promise<void> {
  try {
    const dropped = await keep();
    if (dropped > 0) logger.info({ history, dropped, keep_days: keepDays }, 'old history dropped');
  } catch (error) {
    logger.warn({ err: error, history }, 'a history could not be kept; tried again in an hour');
  }
}
