import { settleIntent } from '@pixmesh/acquirer-orders/hold-intent';
import type { PixReturn } from '@pixmesh/acquirer/acquirer';
import { deadlineIn } from '@pixmesh/http/deadline';
import { type CheckPeriods, nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { decideAnew } from '@pixmesh/postgres/decide-anew';

import { findAnyCharge } from '#charge/charges.sql.ts';
import { failpoint } from '#failpoints.ts';
import {
  type FollowDeps,
  followOrder,
  type LeasedOrder,
  type OrderKind,
} from '#returns/follow-order.ts';

import { endFailed, endRefund, type EndRefundDeps } from './end-refund.ts';
import { refundOrders } from './refund-orders.sql.ts';
import { type IntentDeps, refundIntents } from './refund-intents.ts';
import type { RefundRow } from './refund-row.ts';
import { reportRefundProblem, refundCalled } from './refund-metrics.ts';

/** How long the ledger is waited for when the job settles an intent. */
export const INTENT_TIMEOUT_MS = 5_000;

/** What following refunds needs; periods in milliseconds. */
export type FollowRefundDeps = EndRefundDeps &
  IntentDeps &
  FollowDeps & { intentChecks: CheckPeriods };

/**
 * One status check of a leased row: an intent is settled with the ledger; a refund is followed at the acquirer, under
 * its own id. A lost answer leads to no second order (`placeOrder`).
 */
export async function followRefund(
  deps: FollowRefundDeps,
  leased: LeasedOrder<RefundRow>,
): Promise<void> {
  const refund = leased.row;
  if (refund.status === 'intent') return await checkIntent(deps, refund);
  if (refund.status !== 'processing') return await refundOrders.release(deps.db, refund, null);
  await followOrder(deps, kindOf(deps), leased);
}

function kindOf(deps: FollowRefundDeps): OrderKind<RefundRow> {
  return {
    orders: refundOrders,
    failpoint: (name) => failpoint(`charges.refund.${name}`),
    answered: (refund, answer) => refundCalled(deps.logger, refund, answer),
    reportProblem: (refund, problem) => reportRefundProblem(deps.logger, refund, problem),
    end: (refund, returned) => endAsSeen(deps, refund, returned),
    fail: async (refund, reason) => void (await endFailed(deps, refund, reason)),
  };
}

async function endAsSeen(
  deps: FollowRefundDeps,
  { chargeId, endToEndId }: RefundRow,
  returned: PixReturn,
): Promise<void> {
  await decideAnew('the charge of a refund', async () => {
    const charge = await findAnyCharge(deps.db, chargeId);
    if (charge === null) throw new Error('a refund without its charge');
    return (await endRefund(deps, charge, { endToEndId, returned })) ? 'done' : 'moved';
  });
}

async function checkIntent(deps: FollowRefundDeps, intent: RefundRow): Promise<void> {
  const outcome = await settleIntent(refundIntents(deps), intent, deadlineIn(INTENT_TIMEOUT_MS));
  if (outcome.kind === 'finished' || outcome.kind === 'dropped') return;
  const nextInMs = nextCheckMs(intent.checks, deps.intentChecks);
  await refundOrders.release(deps.db, intent, nextInMs);
}
