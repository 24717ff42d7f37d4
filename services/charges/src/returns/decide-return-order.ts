import {
  decideNotFound,
  type OrderCalls,
  type OrderLimits,
} from '@pixmesh/acquirer-orders/order-calls';
import type { Lookup, PixReturn } from '@pixmesh/acquirer/acquirer';
import { assertNever } from '@pixmesh/kernel/app-error';
import type { Cents } from '@pixmesh/kernel/money';

/**
 * A return ordered from the acquirer under an id of ours, as far as its calls are concerned. No unanswered call after
 * one was made means that the acquirer has accepted the order.
 */
export type ReturnOrder = OrderCalls & { amount: Cents };

/** What the return at the acquirer means for its order. */
type ReturnStep =
  /** The money is back at its payer. */
  | { kind: 'returned'; returned: PixReturn }
  /** Nothing was returned, and nothing will be. */
  | { kind: 'fail'; reason: string }
  | { kind: 'in_progress'; returnId: string | null }
  | { kind: 'contradicted'; problem: OrderProblem };

export type OrderCheckStep = ReturnStep | { kind: 'order_again' } | { kind: 'check_later' };

export type OrderProblem = 'vanished' | 'other_amount';

/** A call is made under the lease of its check: no other check comes before it has ended. */
type Limits = Pick<OrderLimits, 'refusalWaitMs'> & { acquirerTimeoutMs: number };

const NOT_CARRIED_OUT = 'NAO_REALIZADO: the acquirer did not carry the return out';

/**
 * What follows from a status check of an ordered return (decisions 118, 119): an unknown outcome is never a failure,
 * the same call is repeated only after a definite 404, and age alone ends nothing.
 */
export function decideOrderCheck(
  order: ReturnOrder,
  found: Lookup<PixReturn>,
  limits: Limits,
): OrderCheckStep {
  switch (found.kind) {
    case 'unknown':
      return { kind: 'check_later' };
    case 'not_found': {
      // What was accepted is never ordered again, however sure the acquirer seems.
      const isAccepted = order.lastCallAt !== null && order.unansweredCalls === 0;
      return isAccepted
        ? { kind: 'contradicted', problem: 'vanished' }
        : decideNotFound(order, { ...limits, callMs: limits.acquirerTimeoutMs });
    }
    case 'found':
      return decideReturned(order, found.value);
    default:
      return assertNever(found);
  }
}

/** What was ordered and what is returned must be one: another amount is reported, and never adopted. */
export function decideReturned(order: ReturnOrder, returned: PixReturn): ReturnStep {
  if (returned.status === 'failed') {
    const { reason } = returned;
    return { kind: 'fail', reason: reason === null ? NOT_CARRIED_OUT : `NAO_REALIZADO: ${reason}` };
  }
  if (returned.amountCents !== order.amount)
    return { kind: 'contradicted', problem: 'other_amount' };
  if (returned.status === 'returned') return { kind: 'returned', returned };
  return { kind: 'in_progress', returnId: returned.returnId };
}
