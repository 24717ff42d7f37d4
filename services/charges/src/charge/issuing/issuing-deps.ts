import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import type { Receiver } from '@pixmesh/contracts/http/charge';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { CheckPeriods } from '@pixmesh/kernel/check-schedule';

import type { ChargeMoves } from '#charge/move-charges.sql.ts';

/** What issuing needs; periods in milliseconds. */
export type IssuingDeps = {
  db: Database;
  moves: ChargeMoves;
  acquirer: Acquirer;
  receiver: Receiver;
  logger: Logger;
  wakeOutbox(): void;
  wakeStatusChecks(): void;
  acquirerTimeoutMs: number;
  giveUpMs: number;
  leaseMs: number;
  processingChecks: CheckPeriods;
  pendingChecks: CheckPeriods;
};
