import { startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import { leaseRun, type DisputeListRun } from './dispute-list.sql.ts';
import { readDisputes, type ReadDisputesDeps } from './read-disputes.ts';

/** Reads the acquirer's infractions every few seconds, one replica at a time, for as long as the process lives. */
export function startReadDisputesJob(deps: ReadDisputesDeps & { signal: WakeSignal }): PollingLoop {
  return startDueRowsJob<DisputeListRun>({
    name: 'read disputes',
    logger: deps.logger,
    signal: deps.signal,
    inFlightMax: 1,
    sources: [{ take: () => leaseRun(deps.db, deps), max: 1 }],
    handle: (run) => readDisputes(deps, run),
    describe: () => ({}),
    parentOf: () => null,
  });
}
