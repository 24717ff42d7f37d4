import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import { startOrdersJob } from '#returns/orders.job.ts';

import { followItemReturn, type ReturnItemDeps } from './follow-item-return.ts';
import { type Resolution, returnItemOrders } from './resolutions.sql.ts';

/**
 * Returns that the job has under way at most, four of them for an owner who is alone: operators decide them one by one.
 */
const IN_FLIGHT_MAX = 5;

/** Orders returns of items in suspense from the acquirer, and follows them to their end. */
export function startReturnItemsJob(
  deps: ReturnItemDeps & { leaseMs: number; signal: WakeSignal },
): PollingLoop {
  const { db, logger, signal, leaseMs, acquirerTimeoutMs } = deps;
  return startOrdersJob<Resolution>({
    db,
    logger,
    signal,
    name: 'return suspended pix',
    orders: returnItemOrders,
    inFlightMax: IN_FLIGHT_MAX,
    leaseMs,
    acquirerTimeoutMs,
    handle: (leased) => followItemReturn(deps, leased),
    accountOf: ({ ownerId }) => ownerId,
    describe: ({ id }) => ({ resolution_id: id }),
  });
}
