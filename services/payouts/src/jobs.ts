import { startListsJob } from '@pixmesh/acquirer-lists/lists.job';
import type { DueRowsJob } from '@pixmesh/postgres/due-rows-job';
import { startDueWorkPoll } from '@pixmesh/postgres/due-work-poll';
import type { Parts } from '@pixmesh/service/start-service';

import type { CheckDeps } from '#check-deps.ts';
import type { PayoutsConfig } from '#config.ts';
import { DUE_WORK } from '#due-work.sql.ts';
import { observeStops } from '#events.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import { startStatusCheckJob } from '#status-check/status-check.job.ts';
import { startOverdueWatch } from '#sending/overdue-watch.job.ts';
import { countStops } from '#stops/payout-stops.sql.ts';
import { type Sender, startSender } from '#sending/sender.job.ts';
import { sentReadings } from '#sent-list/sent-readings.ts';
import type { Signals } from '#signals.ts';

type JobsParts = {
  config: PayoutsConfig;
  checkDeps: CheckDeps;
  signals: Signals;
  use: Parts['use'];
};

export type Jobs = { sender: Sender; statusCheck: DueRowsJob<PayoutRow> };

/**
 * What goes on by itself: sending, status checks, reading what was sent, settling intents, and reports of what takes
 * too long.
 */
export function startJobs({ config, checkDeps, signals, use }: JobsParts): Jobs {
  const { db, logger, acquirer } = checkDeps;
  const sender = startSender({ ...checkDeps, slots: config.SEND_SLOTS, signal: signals.sender });
  use('sender', sender);
  const statusCheck = startStatusCheckJob({ ...checkDeps, signal: signals.statusChecks });
  use('status check', statusCheck);
  use('overdue watch', startOverdueWatch(checkDeps));
  observeStops(() => countStops(db));
  const readings = sentReadings({
    db,
    logger,
    acquirer,
    intervalMs: config.SENT_LIST_MS,
    lateIntervalMs: config.SENT_LIST_LATE_MS,
    overlapMs: config.SENT_LIST_OVERLAP_MS,
    wakeStatusChecks: signals.statusChecks.notify,
  });
  use('sent list', startListsJob({ db, logger, readings, signal: signals.lists }));
  use('due work', startDueWorkPoll({ db, logger, dueWork: DUE_WORK, signals }));
  return { sender, statusCheck };
}
