import { settleIntent } from '@pixmesh/acquirer-orders/hold-intent';
import type { Acquirer } from '@pixmesh/acquirer/client';
import { deadlineIn } from '@pixmesh/http/deadline';

import { checkPeriods, type PayoutsConfig } from '#config.ts';
import { type IntentDeps, payoutIntents } from '#creation/payout-intents.ts';
import { intentSettled } from '#events.ts';
import type { PayoutMoves } from '#payouts/move-payouts.sql.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import type { StatusCheckDeps } from '#status-check/status-check-deps.ts';

/** How long the ledger is waited for when the job settles an intent. */
const INTENT_TIMEOUT_MS = 5_000;
/** Room for a token and our own statements. */
const LEASE_MARGIN_MS = 2_000;

export type CheckDeps = StatusCheckDeps & { acquirer: Acquirer; leaseMs: number };

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
    refusalWaitMs: config.REFUSAL_WAIT_MS,
    settleIntent: async (intent: PayoutRow) => {
      const outcome = await settleIntent(intents, intent, deadlineIn(INTENT_TIMEOUT_MS));
      intentSettled(outcome.kind);
      return outcome;
    },
  };
}
