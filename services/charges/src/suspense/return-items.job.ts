import { type DueRowsJob, startDueRowsJob } from '@pixmesh/postgres/due-rows-job';

import { lookAtReturn, type ReturnItemDeps } from './look-at-return.ts';
import { leaseDueReturns, type Resolution } from './resolutions.sql.ts';

/** Returns that the job has under way at most: operators decide them one by one. */
const IN_FLIGHT_MAX = 4;

/** Orders returns of items in suspense from the acquirer, and follows them to their end. */
export function startReturnItemsJob(deps: ReturnItemDeps & { leaseMs: number }): DueRowsJob {
  const { db, logger, leaseMs } = deps;
  return startDueRowsJob<Resolution>({
    name: 'return suspended pix',
    logger,
    inFlightMax: IN_FLIGHT_MAX,
    intakes: [
      {
        take: (limit) => leaseDueReturns(db, 'routine', { limit, leaseMs }),
        max: IN_FLIGHT_MAX,
      },
    ],
    handle: (resolution) => lookAtReturn(deps, resolution),
    describe: ({ id }) => ({ resolution_id: id }),
    parentOf: ({ checkTraceparent }) => checkTraceparent,
  });
}
