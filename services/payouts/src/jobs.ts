import { startListsJob } from '@pixmesh/acquirer-lists/lists.job';
import { settleIntent } from '@pixmesh/acquirer-orders/hold-intent';
import type { Acquirer } from '@pixmesh/acquirer/client';
import { deadlineIn } from '@pixmesh/http/deadline';
import type { Parts } from '@pixmesh/service/start-service';

import { checkPeriods, type PayoutsConfig } from '#config.ts';
import { type IntentDeps, payoutIntents } from '#creation/payout-intents.ts';
import { intentSettled } from '#events.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import { startStatusCheckJob } from '#status-check/status-check.job.ts';
import { startOverdueWatch } from '#sending/overdue-watch.job.ts';
import { startSender } from '#sending/sender.job.ts';
import { sentReadings } from '#sent-list/sent-readings.ts';
import type { SettlementDeps } from '#settlement/settlement-deps.ts';
import type { Signals } from '#signals.ts';

/** How long the ledger is waited for when the job settles an intent. */
const INTENT_TIMEOUT_MS = 5_000;

type JobsParts = {
  config: PayoutsConfig;
  acquirer: Acquirer;
  deps: IntentDeps;
  settlement: SettlementDeps;
  signals: Signals;
  use: Parts['use'];
};

/** What goes on by itself: sending, status checks, reading what was sent, settling intents, and reports of what takes too long. */
export function startJobs(parts: JobsParts): void {
  const { config, acquirer, deps, settlement, signals, use } = parts;
  const exchange = {
    ...settlement,
    acquirer,
    acquirerTimeoutMs: config.ACQUIRER_TIMEOUT_MS,
    unknownChecks: checkPeriods(config, 'UNKNOWN'),
  };
  const intents = payoutIntents(deps);
  const sending = { ...exchange, slots: config.SEND_SLOTS, signal: signals.sender };
  use('sender', startSender(sending));
  const checking = {
    ...exchange,
    signal: signals.statusChecks,
    refusalWaitMs: config.REFUSAL_WAIT_MS,
    intentChecks: checkPeriods(config, 'INTENT'),
    wakeSender: deps.wakeSender,
    settleIntent: async (intent: PayoutRow) => {
      const outcome = await settleIntent(intents, intent, deadlineIn(INTENT_TIMEOUT_MS));
      intentSettled(outcome.kind);
      return outcome;
    },
  };
  use('status check', startStatusCheckJob(checking, INTENT_TIMEOUT_MS));
  use('overdue watch', startOverdueWatch(deps));
  const readings = sentReadings({
    db: deps.db,
    logger: deps.logger,
    acquirer,
    intervalMs: config.SENT_LIST_MS,
    overlapMs: config.SENT_LIST_OVERLAP_MS,
    wakeStatusChecks: signals.statusChecks.notify,
  });
  use('sent list', startListsJob({ db: deps.db, logger: deps.logger, readings }));
}
