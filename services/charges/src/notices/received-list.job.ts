import { startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { PollingLoop } from '@pixmesh/service/polling-loop';

import { readReceivedList, type ReceivedListDeps } from './read-received-list.ts';
import { leaseListCursor, type ListCursor } from './received-list.sql.ts';

/** For one page, after which it is renewed; a reader that dies is followed after this long. */
const LEASE_MS = 60_000;

/** Reads the acquirer's list of received Pix, one replica at a time: what no callback announced settles, too. */
export function startReceivedListJob(deps: Omit<ReceivedListDeps, 'leaseMs'>): PollingLoop {
  return startDueRowsJob<ListCursor>({
    name: 'read received list',
    logger: deps.logger,
    inFlightMax: 1,
    intakes: [{ take: () => leaseListCursor(deps.db, LEASE_MS), max: 1 }],
    handle: (cursor) => readReceivedList({ ...deps, leaseMs: LEASE_MS }, cursor),
    describe: () => ({}),
    parentOf: () => null,
  });
}
