import { startListsJob } from '@pixmesh/acquirer-lists/lists.job';
import { startDueWorkPoll } from '@pixmesh/postgres/due-work-poll';
import { createNamedChecks } from '@pixmesh/postgres/named-checks';
import type { Database } from '@pixmesh/postgres/pool';
import type { Parts } from '@pixmesh/service/start-service';
import { createWakeSignal } from '@pixmesh/service/wake-signal';

import type { CheckDeps } from '#check-deps.ts';
import type { PayoutsConfig } from '#config.ts';
import { DUE_WORK } from '#due-work.sql.ts';
import { observeStops } from '#reports.ts';
import { leaseNamedPayouts, type NamedPayout } from '#status-check/callback-checks.sql.ts';
import { startPostponingChecks } from '#status-check/postpone-checks.job.ts';
import { startStatusCheckJob } from '#status-check/status-check.job.ts';
import { startOverdueWatch } from '#sending/overdue-watch.job.ts';
import { countStops } from '#stops/payout-stops.sql.ts';
import { sentReadings } from '#sent-list/sent-readings.ts';
import type { Signals } from '#signals.ts';

type JobsParts = {
  config: PayoutsConfig;
  checkDeps: CheckDeps;
  /** The pool of statements that many writes share. */
  writes: Database;
  signals: Signals;
  use: Parts['use'];
};

/**
 * What goes on by itself beside the sender: status checks, reading what was sent, settling intents, and reports of what
 * takes too long. Answers what callbacks ask for checks.
 */
export function startJobs({ config, checkDeps, writes, signals, use }: JobsParts) {
  const { db, logger, acquirer, leaseMs, wakeStatusChecks } = checkDeps;
  const postponing = createWakeSignal();
  use('postponed checks', startPostponingChecks({ db, logger, signal: postponing }));
  const statusCheck = use(
    'status check',
    startStatusCheckJob({
      ...checkDeps,
      signal: signals.statusChecks,
      wakePostponing: postponing.notify,
    }),
  );
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
  const callbackChecks = createNamedChecks({
    job: statusCheck,
    lease: (names: readonly NamedPayout[], places) =>
      leaseNamedPayouts(writes, names, { places, leaseMs }),
    wakeStatusChecks,
  });
  return { callbackChecks };
}
