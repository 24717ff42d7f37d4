import { type DueRowsJob, startDueRowsJob } from '@pixmesh/postgres/due-rows-job';

import {
  INTENT_TIMEOUT_MS,
  type LeasedRefund,
  lookAtRefund,
  type RefundLookDeps,
} from './look-at-refund.ts';
import { countOverdue, leaseDueRefunds } from './progress.sql.ts';
import { observeOverdue } from './refund-signals.ts';

/** Refunds that a process has under way at the acquirer at most. */
const IN_FLIGHT_MAX = 8;
/** Room for a token and our own statements. */
const LEASE_MARGIN_MS = 2_000;

/** Orders refunds from the acquirer, follows them to their end, and settles intents that their calls left behind. */
export function startRefundsJob(deps: RefundLookDeps): DueRowsJob {
  // A look and the call that may follow it fit into one lease.
  const leaseMs = Math.max(2 * deps.acquirerTimeoutMs, INTENT_TIMEOUT_MS) + LEASE_MARGIN_MS;
  observeOverdue(() => countOverdue(deps.db));
  return startDueRowsJob<LeasedRefund>({
    name: 'follow refund',
    logger: deps.logger,
    inFlightMax: IN_FLIGHT_MAX,
    intakes: [{ take, max: IN_FLIGHT_MAX }],
    handle: (leased) => lookAtRefund(deps, leased),
    describe: ({ refund }) => ({ refund_id: refund.id }),
    parentOf: ({ refund }) => refund.checkTraceparent,
  });

  async function take(limit: number): Promise<LeasedRefund[]> {
    const callBeforeMs = performance.now() + leaseMs - deps.acquirerTimeoutMs;
    const refunds = await leaseDueRefunds(deps.db, { limit, leaseMs });
    return refunds.map((refund) => ({ refund, callBeforeMs }));
  }
}
