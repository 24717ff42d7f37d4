import { settleIntent } from '@pixmesh/acquirer-orders/hold-intent';
import type { OrderLimits } from '@pixmesh/acquirer-orders/order-calls';
import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { deadlineIn } from '@pixmesh/http/deadline';

import { checkPeriods, type PayoutsConfig } from '#config.ts';
import { type IntentDeps, payoutIntents } from '#creation/payout-intents.ts';
import { intentSettled } from '#events.ts';
import type { PayoutMoves } from '#payouts/move-payouts.sql.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import { START_MARGIN_MS } from '#sending/sender.job.ts';
import type { SendingDeps } from '#sending/sending-deps.ts';
import type { StatusCheckDeps } from '#status-check/status-check-deps.ts';

/** How long the ledger is waited for when the job settles an intent. */
const INTENT_TIMEOUT_MS = 5_000;
/** Room for a token and our own statements. */
const LEASE_MARGIN_MS = 2_000;

export type CheckDeps = StatusCheckDeps & SendingDeps & { acquirer: Acquirer; leaseMs: number };

/** What sending and status checks of payouts work with. */
export function createCheckDeps(parts: {
  config: PayoutsConfig;
  acquirer: Acquirer;
  moves: PayoutMoves;
  deps: IntentDeps & { wakeStatusChecks(): void };
}): CheckDeps {
  const { config, acquirer, moves, deps } = parts;
  const intents = payoutIntents(deps);
  return {
    ...deps,
    moves,
    acquirer,
    acceptedChecks: checkPeriods(config, 'ACCEPTED'),
    unknownChecks: checkPeriods(config, 'UNKNOWN'),
    intentChecks: checkPeriods(config, 'INTENT'),
    acquirerTimeoutMs: config.ACQUIRER_TIMEOUT_MS,
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
