import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { keepRequestLog } from './requests.sql.ts';

/** The log is kept in weeks, so an hour late means nothing. */
const CHECK_INTERVAL_MS = 60 * 60 * 1000;

type RetentionDeps = { db: Database; logger: Logger; keepDays: number };

/**
 * Enforces the retention of the request log: once at the start and then every hour, in every process. Who finds the
 * lease taken leaves the work to its holder. A failure costs an hour, for which partitions stand ready.
 */
export function startRequestLogRetention(deps: RetentionDeps): AsyncDisposable {
  let running = keepOnce(deps);
  const timer = setInterval(() => {
    running = running.then(() => keepOnce(deps));
  }, CHECK_INTERVAL_MS);
  timer.unref();
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

async function keepOnce({ db, logger, keepDays }: RetentionDeps): Promise<void> {
  try {
    const dropped = await keepRequestLog(db, keepDays);
    if (dropped > 0) logger.info({ dropped, keep_days: keepDays }, 'old request log dropped');
  } catch (error) {
    logger.warn({ err: error }, 'the request log could not be kept; tried again in an hour');
  }
}
