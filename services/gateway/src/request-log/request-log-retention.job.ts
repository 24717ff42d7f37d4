import type { Database } from '@pixmesh/postgres/pool';
import { type Kept, startRetention } from '@pixmesh/postgres/retention-job';
import type { Logger } from '@pixmesh/telemetry/logger';

import { maintainRequestLog } from './requests.sql.ts';

type RetentionDeps = { db: Database; logger: Logger; keepDays: number };

/** Enforces the retention of the request log in every process; one at a time does it. */
export function startRequestLogRetention({ db, logger, keepDays }: RetentionDeps): AsyncDisposable {
  const keep = async (): Promise<Kept> => ({
    dropped: await maintainRequestLog(db, keepDays),
    isDone: true,
  });
  return startRetention({
    db,
    logger,
    history: 'request log',
    tables: ['request_log'],
    keepDays,
    keep,
  });
}
