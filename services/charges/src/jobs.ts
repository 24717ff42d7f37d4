import { startListsJob } from '@pixmesh/acquirer-lists/lists.job';
import type { LedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import { startDueWorkPoll } from '@pixmesh/postgres/due-work-poll';
import { createNamedChecks } from '@pixmesh/postgres/named-checks';
import type { Database } from '@pixmesh/postgres/pool';
import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { Parts } from '@pixmesh/service/start-service';

import { oldestDueCheckSeconds, oldestIssuingSeconds } from '#charge/charge-checks.sql.ts';
import { observeDueChecks, observeIssuing } from '#charge/charge-metrics.ts';
import type { CheckDeps } from '#check-deps.ts';
import type { ChargesConfig } from '#config.ts';
import { DUE_WORK } from '#due-work.sql.ts';
import { startReadDisputesJob } from '#disputes/read-disputes.job.ts';
import { observeNotices } from '#notices/notice-metrics.ts';
import { startPixNoticesJob } from '#notices/pix-notices.job.ts';
import { startPruneNotices } from '#notices/prune-notices.job.ts';
import { noticePix, oldestNoticeSeconds } from '#notices/pix-notices.sql.ts';
import { leaseNamedCharges, type NamedByCallback } from '#status-check/callback-checks.sql.ts';
import { checkReturns } from '#status-check/check-returns.ts';
import { startStatusCheckJob } from '#status-check/status-check.job.ts';
import { receivedReadings } from '#notices/received-readings.ts';
import { startRefundsJob } from '#refunds/refunds.job.ts';
import type { Signals } from '#signals.ts';
import { startReturnItemsJob } from '#suspense/return-items.job.ts';

type JobsParts = {
  config: ChargesConfig;
  checkDeps: CheckDeps;
  /** The pool of statements that many writes share. */
  writes: Database;
  holds: LedgerHolds;
  signals: Signals;
  use: Parts['use'];
};

/** For one page of disputes; another replica takes over this long after one has died in it. */
const DISPUTE_LEASE_MS = 60_000;
/**
 * A disputed Pix that the acquirer does not show is asked for again after so long: each check that finds nothing
 * alerts.
 */
const UNKNOWN_PIX_PAUSE_MS = 600_000;

/** Starts what runs by itself, and answers what callbacks ask for checks. */
export function startJobs(parts: JobsParts) {
  const { checkDeps, writes, signals, use } = parts;
  const { db, leaseMs, wakeStatusChecks } = checkDeps;
  observeIssuing(() => oldestIssuingSeconds(db));
  observeDueChecks(() => oldestDueCheckSeconds(db));
  const statusCheck = use(
    'status checks',
    startStatusCheckJob({ ...checkDeps, signal: signals.statusChecks }),
  );
  startMoneyJobs(parts);
  use('disputes', startDisputes(parts));
  use('refunds', startRefunds(parts));
  use('due work', startDueWorkPoll({ ...checkDeps, signals, dueWork: DUE_WORK }));
  const callbackChecks = createNamedChecks({
    job: statusCheck,
    lease: (names: readonly NamedByCallback[], places) =>
      leaseNamedCharges(writes, names, { places, leaseMs }),
    wakeStatusChecks,
  });
  return { callbackChecks };
}

/** Checks announced Pix and returns of items, and reads the list of received Pix. */
function startMoneyJobs({ config, checkDeps, signals, use }: JobsParts): void {
  const { db, processingChecks, pendingChecks } = checkDeps;
  const pixKey = config.ACQUIRER_PIX_KEY;
  use('pix notices', startPixNoticesJob({ ...checkDeps, pixKey, signal: signals.notices }));
  use('prune pix notices', startPruneNotices(checkDeps));
  use(
    'return items',
    startReturnItemsJob({
      ...checkDeps,
      signal: signals.itemReturns,
      refusalWaitMs: config.REFUSAL_WAIT_MS,
      unknownChecks: processingChecks,
      // Most returns are carried out within seconds.
      acceptedChecks: { firstMs: processingChecks.firstMs, maxMs: pendingChecks.maxMs },
    }),
  );
  use(
    'received list',
    startListsJob({
      ...checkDeps,
      signal: signals.lists,
      readings: receivedReadings({
        ...checkDeps,
        pixKey,
        intervalMs: config.RECEIVED_LIST_MS,
        lateIntervalMs: config.RECEIVED_LIST_LATE_MS,
        overlapMs: config.RECEIVED_LIST_OVERLAP_MS,
        wakeNotices: signals.notices.notify,
      }),
    }),
  );
  observeNotices(() => oldestNoticeSeconds(db));
}

function startDisputes({ config, checkDeps, signals }: JobsParts): PollingLoop {
  return startReadDisputesJob({
    ...checkDeps,
    signal: signals.disputeList,
    intervalMs: config.DISPUTE_LIST_MS,
    leaseMs: DISPUTE_LEASE_MS,
    returnWindowMs: config.DISPUTE_RETURN_WINDOW_MS,
    checkReturns: (charge, endToEndId) => checkReturns(checkDeps, charge, endToEndId),
    noticePix: async (endToEndId) => {
      await noticePix(checkDeps.db, [endToEndId], { notFoundMs: UNKNOWN_PIX_PAUSE_MS });
      signals.notices.notify();
    },
  });
}

function startRefunds({ config, holds, checkDeps, signals }: JobsParts): PollingLoop {
  return startRefundsJob({
    ...checkDeps,
    holds,
    signal: signals.refunds,
    wakeRefunds: signals.refunds.notify,
    refusalWaitMs: config.REFUSAL_WAIT_MS,
    intentChecks: refundPeriods(config, 'INTENT'),
    unknownChecks: refundPeriods(config, 'UNKNOWN'),
    acceptedChecks: refundPeriods(config, 'ACCEPTED'),
  });
}

function refundPeriods(config: ChargesConfig, of: 'INTENT' | 'UNKNOWN' | 'ACCEPTED') {
  return {
    firstMs: config[`READ_BACK_REFUND_${of}_MS`],
    maxMs: config[`READ_BACK_REFUND_${of}_MS_MAX`],
  };
}
