import type { PixReturn } from '@pixmesh/acquirer/acquirer';
import type { Receiver } from '@pixmesh/contracts/http/charge';
import { fromAcquirerId, type RefundId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { cutFailureReason } from '@pixmesh/kernel/text';
import type { Database, Transaction } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { ChargeRow } from '#charge/charge-row.ts';
import { mayMove } from '#charge/transitions.ts';
import { MovedMeanwhile, unlessMoved } from '#charge/unless-moved.ts';
import { failpoint } from '#failpoints.ts';
import { writeReturn } from '#returns/book-return.ts';
import { decideReturned } from '#returns/decide-return-order.ts';

import { holdRelease, holdSettle } from './hold-commands.ts';
import { completeRefund, failRefund } from './refund-orders.sql.ts';
import type { RefundRow } from './refund-row.ts';
import { reportRefundProblem, refundEnded } from './refund-metrics.ts';
import { findRefund } from './refunds.sql.ts';

export type EndRefundDeps = {
  db: Database;
  receiver: Receiver;
  logger: Logger;
  wakeOutbox(): void;
};

/** A return as it was seen, by the refund's own status check or under its charge. */
type ShownReturn = { endToEndId: string; returned: PixReturn };

/**
 * Ends the refund that a return at the acquirer is, by whichever check sees it first: carried out, or not and never to
 * be. Repeated, it changes nothing. False when charge or refund have moved since they were read: nothing is written
 * then.
 */
export async function endRefund(
  deps: EndRefundDeps,
  charge: ChargeRow,
  seen: ShownReturn,
): Promise<boolean> {
  const id = fromAcquirerId<RefundId>(seen.returned.id);
  const refund = id === null ? null : await findRefund(deps.db, id);
  if (refund === null || refund.status === 'completed') return true;
  // Failed in between: what went back all the same is booked by the charge's check as a return by itself.
  if (refund.status === 'failed') return seen.returned.status === 'failed';
  if (refund.status === 'intent') return false;
  const step = decideReturned(refund, seen.returned);
  if (step.kind === 'returned') return await endReturned(deps, charge, { ...seen, refund });
  if (step.kind === 'fail') return await endFailed(deps, refund, step.reason);
  if (step.kind === 'contradicted') {
    reportRefundProblem(deps.logger, refund, step.problem);
  }
  return true;
}

/** `NAO_REALIZADO`, or a refusal that counts: the hold is released (decision 76). */
export async function endFailed(
  deps: EndRefundDeps,
  refund: RefundRow,
  text: string,
): Promise<boolean> {
  const reason = cutFailureReason(text);
  const command = holdRelease(refund);
  await failpoint('charges.refund.before-end');
  if (!(await failRefund(deps.db, refund, { reason, command }))) return false;
  deps.wakeOutbox();
  refundEnded(deps.logger, refund, { status: 'failed', reason });
  await failpoint('charges.refund.after-end');
  return true;
}

/**
 * The refund, its record, the charge with its history, the dispute that a full refund closes, and the order to settle
 * the hold are one commit: the version of the charge lets each return be counted once.
 */
async function endReturned(
  deps: EndRefundDeps,
  charge: ChargeRow,
  end: ShownReturn & { refund: RefundRow },
): Promise<boolean> {
  await failpoint('charges.refund.before-end');
  const isWritten = await unlessMoved(deps.db, (tx) =>
    writeReturned(tx, deps.receiver, { ...end, charge }),
  );
  if (!isWritten) return false;
  deps.wakeOutbox();
  refundEnded(deps.logger, end.refund, { status: 'completed', reason: null });
  await failpoint('charges.refund.after-end');
  return true;
}

async function writeReturned(
  tx: Transaction,
  receiver: Receiver,
  { charge, refund, returned }: ShownReturn & { refund: RefundRow; charge: ChargeRow },
): Promise<void> {
  const { status, refundedAmount } = chargeAfter(charge, refund);
  const moves = status !== charge.status;
  const moved = await writeReturn(tx, receiver, {
    change: {
      from: charge,
      status,
      cause: 'refund_completed',
      detail: refund.id,
      refundedAmount,
      commands: [holdSettle(refund)],
      checkInMs: 'kept',
    },
    event: moves ? 'charge.pix.refunded' : null,
    record: {
      endToEndId: refund.endToEndId,
      returnId: returned.id,
      chargeId: charge.id,
      amount: returned.amountCents,
      nature: returned.nature,
      refundId: refund.id,
      disposition: 'refund',
      settledAt: null,
    },
    closesDispute: status === 'refunded',
  });
  const { returnId, settledAt: at } = returned;
  if (moved === null || !(await completeRefund(tx, refund, { returnId, at }))) {
    throw new MovedMeanwhile('a charge or its refund moved meanwhile');
  }
}

/** What a completed refund makes of its charge (decisions 76, 77, 80). */
function chargeAfter(
  charge: ChargeRow,
  refund: RefundRow,
): Pick<ChargeRow, 'status' | 'refundedAmount'> {
  const sum = charge.refundedAmount + refund.amount;
  // More than was paid cannot go back; should the acquirer say so all the same, the hold is settled and a break shown.
  const refundedAmount = toCents(sum > charge.amount ? charge.amount : sum);
  const isTotal = refundedAmount === charge.amount && mayMove(charge, 'refunded');
  return { status: isTotal ? 'refunded' : charge.status, refundedAmount };
}
