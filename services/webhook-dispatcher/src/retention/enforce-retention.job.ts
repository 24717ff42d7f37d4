import type { Database } from '@pixmesh/postgres/pool';
import { type Kept, startRetention } from '@pixmesh/postgres/retention-job';
import type { Logger } from '@pixmesh/telemetry/logger';

import { deleteUnusedDestinations } from './delete-unused-destinations.sql.ts';
import { enforceRetention } from './enforce-retention.sql.ts';

const TABLES = ['events', 'deliveries', 'attempts'];

type RetentionDeps = { db: Database; logger: Logger; keepDays: number };

/**
 * Enforces the retention of events, deliveries and attempts in every process; one at a time does it. The process that
 * has dropped weeks then goes once through the destinations. Where it ends before it is through, the rest is left to
 * the next week.
 */
export function startHistoryRetention({ db, logger, keepDays }: RetentionDeps): AsyncDisposable {
  /** Of the table of destinations, while this process goes through it. */
  let page: number | null = null;
  return startRetention({ db, logger, history: 'deliveries', tables: TABLES, keepDays, keep });

  async function keep(): Promise<Kept> {
    const { dropped, isDone } = await enforceRetention({ db, logger }, keepDays);
    if (dropped > 0) page = 0;
    if (page !== null) page = await deleteUnusedDestinations(db, page);
    return { dropped, isDone: isDone && page === null };
  }
}
