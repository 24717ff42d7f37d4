import type { Acquirer } from '@pixmesh/acquirer/client';
import type { LedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import type { Database } from '@pixmesh/postgres/pool';
import type { DueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { ChargesConfig } from '#config.ts';
import { startReadDisputesJob } from '#disputes/read-disputes.job.ts';
import { observeLags } from '#events.ts';
import { startPixNoticesJob } from '#notices/pix-notices.job.ts';
import { noticePix, oldestNoticeSeconds } from '#notices/pix-notices.sql.ts';
import { lookAtCharge, type LookDeps } from '#status-check/check-charge.ts';
import { startReadBackJob } from '#status-check/status-check.job.ts';
import { readReturns } from '#status-check/check-returns.ts';
import { startReceivedListJob } from '#notices/received-list.job.ts';
import { listLagSeconds } from '#notices/received-list.sql.ts';
import { startRefundsJob } from '#refunds/refunds.job.ts';
import { startReturnItemsJob } from '#suspense/return-items.job.ts';

type StopList = { add(name: string, stop: () => Promise<void> | void): void };

type JobsParts = {
  config: ChargesConfig;
  db: Database;
  logger: Logger;
  acquirer: Acquirer;
  holds: LedgerHolds;
  stopList: StopList;
  look: LookDeps;
};

export type Jobs = {
  wakeReadBack(): void;
  wakeNotices(): void;
  wakeReturnItems(): void;
  wakeRefunds(): void;
  isAlive(): boolean;
};

/** For one page of disputes, and how soon a replica that dies over it is followed. */
const DISPUTE_LEASE_MS = 60_000;
/** A disputed Pix that the acquirer does not show is looked for again after so long: each look that finds nothing alerts. */
const UNKNOWN_PIX_PAUSE_MS = 600_000;

/** Starts what runs by itself. */
export function startJobs(parts: JobsParts): Jobs {
  const all: DueRowsJob[] = [];
  const add = <Job extends DueRowsJob>(name: string, job: Job): Job => {
    parts.stopList.add(name, job.stop);
    all.push(job);
    return job;
  };
  const { readBack, notices, returnItems } = startMoneyJobs(parts, add);
  add('disputes', startDisputes(parts, notices));
  const refunds = add('refunds', startRefunds(parts));
  return {
    wakeReadBack: readBack.wake,
    wakeNotices: notices.wake,
    wakeReturnItems: returnItems.wake,
    wakeRefunds: refunds.wake,
    isAlive: () => all.every((one) => one.isAlive()),
  };
}

/** Looks at charges, at announced Pix and at returns of items, and the list of received Pix. */
function startMoneyJobs(
  { config, db, logger, acquirer, look }: JobsParts,
  add: (name: string, job: DueRowsJob) => DueRowsJob,
) {
  const { leaseMs, wakeOutbox, processingChecks, pendingChecks } = look;
  const pixKey = config.ACQUIRER_PIX_KEY;
  const common = { db, logger, acquirer, leaseMs, wakeOutbox, processingChecks, pendingChecks };
  const lookAt = lookAtCharge.bind(null, look);
  const readBack = add('read-back', startReadBackJob({ db, logger, leaseMs, lookAt }));
  const wakeReadBack = readBack.wake;
  const notices = add('pix notices', startPixNoticesJob({ ...common, pixKey, wakeReadBack }));
  const returnItems = add(
    'return items',
    startReturnItemsJob({
      ...common,
      acquirerTimeoutMs: config.ACQUIRER_TIMEOUT_MS,
      refusalWaitMs: config.REFUSAL_WAIT_MS,
      unknownChecks: processingChecks,
      // Most returns are carried out within seconds.
      acceptedChecks: { firstMs: processingChecks.firstMs, maxMs: pendingChecks.maxMs },
    }),
  );
  add(
    'received list',
    startReceivedListJob({
      ...common,
      pixKey,
      intervalMs: config.RECEIVED_LIST_MS,
      overlapMs: config.RECEIVED_LIST_OVERLAP_MS,
      wakeReadBack,
      wakeNotices: notices.wake,
    }),
  );
  observeLags({
    oldestNotice: () => oldestNoticeSeconds(db),
    receivedList: () => listLagSeconds(db),
  });
  return { readBack, notices, returnItems };
}

function startDisputes({ config, db, look }: JobsParts, notices: DueRowsJob): DueRowsJob {
  return startReadDisputesJob({
    ...look,
    intervalMs: config.DISPUTE_LIST_MS,
    leaseMs: DISPUTE_LEASE_MS,
    returnWindowMs: config.DISPUTE_RETURN_WINDOW_MS,
    readReturns: (charge, endToEndId) => readReturns(look, charge, endToEndId),
    noticePix: async (endToEndId) => {
      await noticePix(db, [endToEndId], { notFoundMs: UNKNOWN_PIX_PAUSE_MS });
      notices.wake();
    },
  });
}

function startRefunds({ config, holds, look }: JobsParts): DueRowsJob {
  const refunds: DueRowsJob = startRefundsJob({
    ...look,
    holds,
    refusalWaitMs: config.REFUSAL_WAIT_MS,
    intentChecks: refundPeriods(config, 'INTENT'),
    unknownChecks: refundPeriods(config, 'UNKNOWN'),
    acceptedChecks: refundPeriods(config, 'ACCEPTED'),
    wakeRefunds: () => refunds.wake(),
  });
  return refunds;
}

function refundPeriods(config: ChargesConfig, of: 'INTENT' | 'UNKNOWN' | 'ACCEPTED') {
  return {
    firstMs: config[`READ_BACK_REFUND_${of}_MS`],
    maxMs: config[`READ_BACK_REFUND_${of}_MS_MAX`],
  };
}
