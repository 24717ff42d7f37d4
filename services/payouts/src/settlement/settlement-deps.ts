import type { CheckPeriods } from '@pixmesh/kernel/check-schedule';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { PayoutMoves } from '#payouts/move-payouts.sql.ts';

/** What moving a payout on needs; periods in milliseconds. */
export type SettlementDeps = {
  db: Database;
  moves: PayoutMoves;
  logger: Logger;
  /** Wakes the outbox relay after a commit. */
  wakeOutbox(): void;
  /** Distances between status checks of a payout that the acquirer has accepted. */
  acceptedChecks: CheckPeriods;
};
