import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';

import { startOrdersJob } from '#returns/orders.job.ts';

import { INTENT_TIMEOUT_MS, followRefund, type FollowRefundDeps } from './follow-refund.ts';
import { countOverdue, refundOrders } from './refund-orders.sql.ts';
import type { RefundRow } from './refund-row.ts';
import { observeOverdue } from './refund-metrics.ts';

/** Refunds that a process has under way at the acquirer at most, eight of them for an account that is alone. */
const IN_FLIGHT_MAX = 10;
/** Room for a token and our own statements. */
const LEASE_MARGIN_MS = 2_000;

/** Orders refunds from the acquirer, follows them to their end, and settles intents that their calls left behind. */
export function startRefundsJob(deps: FollowRefundDeps & { signal: WakeSignal }): PollingLoop {
  // A status check and the call that may follow it fit into one lease.
  const leaseMs = Math.max(2 * deps.acquirerTimeoutMs, INTENT_TIMEOUT_MS) + LEASE_MARGIN_MS;
  observeOverdue(() => countOverdue(deps.db));
  return startOrdersJob<RefundRow>({
    db: deps.db,
    logger: deps.logger,
    signal: deps.signal,
    name: 'follow refund',
    orders: refundOrders,
    inFlightMax: IN_FLIGHT_MAX,
    leaseMs,
    acquirerTimeoutMs: deps.acquirerTimeoutMs,
    handle: (leased) => followRefund(deps, leased),
    accountOf: ({ accountId }) => accountId,
    describe: ({ id }) => ({ refund_id: id }),
  });
}
