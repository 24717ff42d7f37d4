import type { Lookup, PixReturn, RefundOutcome } from '@pixmesh/acquirer/client';
import { assertNever } from '@pixmesh/kernel/app-error';
import type { Cents } from '@pixmesh/kernel/money';

/** A return ordered from the acquirer under an id of ours, as far as its calls are concerned. */
export type ReturnOrder = {
  amount: Cents;
  /** Calls without a definite answer so far; 0 after a call means that the acquirer has taken the order. */
  unansweredPuts: number;
  lastPutAt: Date | null;
  uncountedRefusal: string | null;
  readAt: Date;
};

type Limits = { acquirerTimeoutMs: number; refusalWaitMs: number };

export type OrderStep =
  | { kind: 'put' }
  /** The money is back at its payer. */
  | { kind: 'returned'; returned: PixReturn }
  /** Nothing was returned, and nothing will be. */
  | { kind: 'fail'; reason: string }
  /** It may count later: an earlier call may still have its effect. */
  | { kind: 'keep_refusal'; reason: string }
  /** `unknown`: soon. `accepted`: the acquirer has it at work. */
  | { kind: 'look_later'; pace: 'unknown' | 'accepted'; problem: OrderProblem | null };

export type OrderProblem = 'vanished' | 'other_amount';

const NOT_CARRIED_OUT = 'NAO_REALIZADO: the acquirer did not carry the return out';

/**
 * What follows from a look at an ordered return (decisions 118, 119): an unknown outcome is never a failure, the same
 * call is repeated only after a definite 404, and age alone ends nothing.
 */
export function decideOrderLook(
  order: ReturnOrder,
  found: Lookup<PixReturn>,
  limits: Limits,
): OrderStep {
  switch (found.kind) {
    case 'unknown':
      return later('unknown');
    case 'not_found':
      return decideNotFound(order, limits);
    case 'found':
      return decideFound(order, found.value);
    default:
      return assertNever(found);
  }
}

/** What follows from the answer to one call, which the order's count holds already. */
export function decideOrderAnswer(order: ReturnOrder, outcome: RefundOutcome): OrderStep {
  switch (outcome.kind) {
    case 'accepted':
      return decideFound(order, outcome.refund);
    case 'refused': {
      const reason = `${outcome.code}: ${outcome.message}`;
      return { kind: order.unansweredPuts === 1 ? 'fail' : 'keep_refusal', reason };
    }
    case 'unknown':
      return later('unknown');
    default:
      return assertNever(outcome);
  }
}

function decideNotFound(order: ReturnOrder, limits: Limits): OrderStep {
  if (order.lastPutAt === null) return { kind: 'put' };
  // What was taken is never ordered again, however sure the acquirer seems.
  if (order.unansweredPuts === 0) return later('accepted', 'vanished');
  const sinceLastPutMs = order.readAt.getTime() - order.lastPutAt.getTime();
  if (sinceLastPutMs < limits.acquirerTimeoutMs) return later('unknown');
  if (order.uncountedRefusal === null) return { kind: 'put' };
  if (sinceLastPutMs < limits.refusalWaitMs) return later('unknown');
  return { kind: 'fail', reason: order.uncountedRefusal };
}

/** What was ordered and what is returned must be one: another amount is reported, and never adopted. */
function decideFound(order: ReturnOrder, returned: PixReturn): OrderStep {
  if (returned.status === 'failed') {
    const { reason } = returned;
    return { kind: 'fail', reason: reason === null ? NOT_CARRIED_OUT : `NAO_REALIZADO: ${reason}` };
  }
  if (returned.amountCents !== order.amount) return later('accepted', 'other_amount');
  return returned.status === 'returned' ? { kind: 'returned', returned } : later('accepted');
}

function later(pace: 'unknown' | 'accepted', problem: OrderProblem | null = null): OrderStep {
  return { kind: 'look_later', pace, problem };
}
