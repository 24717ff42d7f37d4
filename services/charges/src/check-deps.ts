import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { createIssuing, type Issuing } from '#charge/issuing/issuing.ts';
import type { IssuingDeps } from '#charge/issuing/issuing-deps.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import type { ChargesConfig } from '#config.ts';
import { createChargeReceipts } from '#received/receipts.sql.ts';
import { createRecordedPix } from '#received/received-pix.sql.ts';
import type { Signals } from '#signals.ts';
import type { StatusCheckDeps } from '#status-check/status-check.job.ts';

/** Room for a token, two exchanges with the acquirer and our own statements. */
const LEASE_MARGIN_MS = 2_000;

export type CheckDeps = StatusCheckDeps & IssuingDeps & { issuing: Issuing };

/** What issuing and status checks of charges work with. */
export function createCheckDeps({
  config,
  signals,
  writes,
  ...parts
}: {
  config: ChargesConfig;
  db: Database;
  /** The pool of statements that many writes share. */
  writes: Database;
  logger: Logger;
  acquirer: Acquirer;
  signals: Signals;
}): CheckDeps {
  const deps = {
    ...parts,
    moves: createChargeMoves(writes),
    receipts: createChargeReceipts(writes),
    recordedPix: createRecordedPix(writes),
    wakeOutbox: signals.outbox.notify,
    wakeStatusChecks: signals.statusChecks.notify,
    ...issuingSettings(config),
  };
  return { ...deps, issuing: createIssuing(deps) };
}

function issuingSettings(config: ChargesConfig) {
  return {
    receiver: config.ACQUIRER_RECEIVER,
    acquirerTimeoutMs: config.ACQUIRER_TIMEOUT_MS,
    giveUpMs: config.ISSUANCE_GIVE_UP_MS,
    leaseMs: 2 * config.ACQUIRER_TIMEOUT_MS + LEASE_MARGIN_MS,
    processingChecks: {
      firstMs: config.READ_BACK_PROCESSING_MS,
      maxMs: config.READ_BACK_PROCESSING_MS_MAX,
    },
    pendingChecks: {
      firstMs: config.READ_BACK_PENDING_MS,
      maxMs: config.READ_BACK_PENDING_MS_MAX,
    },
  };
}
