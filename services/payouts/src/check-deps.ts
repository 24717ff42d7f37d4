import { settleIntent } from '@pixmesh/acquirer-orders/hold-intent';
import type { OrderLimits } from '@pixmesh/acquirer-orders/order-calls';
import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { deadlineIn } from '@pixmesh/http/deadline';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { checkPeriods, type PayoutsConfig } from '#config.ts';
import { type IntentDeps, payoutIntents } from '#creation/payout-intents.ts';
import { intentSettled } from '#reports.ts';
import { createPayoutMoves } from '#payouts/move-payouts.sql.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import type { Signals } from '#signals.ts';
import { START_MARGIN_MS } from '#sending/timed-claim.ts';
import type { SendingDeps } from '#sending/sending-deps.ts';
import type { StatusCheckDeps } from '#status-check/status-check-deps.ts';

/** How long the ledger is waited for when the job settles an intent. */
const INTENT_TIMEOUT_MS = 5_000;
/** Room for a token and our own statements. */
const LEASE_MARGIN_MS = 2_000;

/** What sending works with. */
export function createSendingDeps(parts: {
  config: PayoutsConfig;
  db: Database;
  /** The pool of statements that many writes share. */
  writes: Database;
  logger: Logger;
  acquirer: Acquirer;
  signals: Signals;
}): SendingDeps {
  const { config, db, writes, logger, acquirer, signals } = parts;
  return {
    db,
    logger,
    acquirer,
    moves: createPayoutMoves(writes),
    acceptedChecks: checkPeriods(config, 'ACCEPTED'),
    unknownChecks: checkPeriods(config, 'UNKNOWN'),
    acquirerTimeoutMs: config.ACQUIRER_TIMEOUT_MS,
    wakeOutbox: signals.outbox.notify,
  };
}

export type CheckDeps = StatusCheckDeps & { acquirer: Acquirer; leaseMs: number };

/** What status checks of payouts work with. */
export function createCheckDeps(parts: {
  config: PayoutsConfig;
  acquirer: Acquirer;
  intents: IntentDeps & SendingDeps;
  signals: Signals;
}): CheckDeps {
  const { config, acquirer, signals } = parts;
  const intents = payoutIntents(parts.intents);
  return {
    ...parts.intents,
    acquirer,
    wakeSender: signals.sender.notify,
    wakeStatusChecks: signals.statusChecks.notify,
    intentChecks: checkPeriods(config, 'INTENT'),
    leaseMs: Math.max(config.ACQUIRER_TIMEOUT_MS, INTENT_TIMEOUT_MS) + LEASE_MARGIN_MS,
    ...orderLimits(config),
    settleIntent: async (intent: PayoutRow) => {
      const outcome = await settleIntent(intents, intent, deadlineIn(INTENT_TIMEOUT_MS));
      intentSettled(outcome.kind);
      return outcome;
    },
  };
}

/** A call of a sender begins a little after it was counted, and then takes as long as the acquirer may. */
export function orderLimits(config: PayoutsConfig): OrderLimits {
  return {
    callMs: config.ACQUIRER_TIMEOUT_MS + START_MARGIN_MS,
    refusalWaitMs: config.REFUSAL_WAIT_MS,
  };
}
