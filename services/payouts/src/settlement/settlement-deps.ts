import type { CheckPeriods } from '@pixmesh/kernel/check-schedule';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

/** What moving a payout on needs; periods in milliseconds. */
export type SettlementDeps = {
  db: Database;
  logger: Logger;
  /** There are events to publish. */
  wakeOutbox(): void;
  /** Distances between status checks of a payout that the acquirer has accepted. */
  acceptedChecks: CheckPeriods;
};
