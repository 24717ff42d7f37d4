import type { Database } from '@pixmesh/postgres/pool';
import { type Kept, startRetention } from '@pixmesh/postgres/retention-job';
import type { Logger } from '@pixmesh/telemetry/logger';

import { enforceRetention } from './enforce-retention.sql.ts';

const TABLES = ['events', 'deliveries', 'attempts'];

type RetentionDeps = { db: Database; logger: Logger; keepDays: number };

/** Enforces the retention of events, deliveries and attempts in every process; one at a time does it. */
export function startHistoryRetention({ db, logger, keepDays }: RetentionDeps): AsyncDisposable {
  const keep = (): Promise<Kept> => enforceRetention({ db, logger }, keepDays);
  return startRetention({ db, logger, history: 'deliveries', tables: TABLES, keepDays, keep });
}
