import type { Refused, Unknown } from '@pixmesh/acquirer/acquirer';
import { wasNeverSent } from '@pixmesh/acquirer/unknown-causes';
import { assertNever } from '@pixmesh/kernel/app-error';

/** What a row records of the calls that order it at the acquirer. */
export type OrderCalls = {
  /** Calls without a definite answer so far. */
  unansweredCalls: number;
  /** When the newest call was counted; null where none was. */
  lastCallAt: Date | null;
  /** A refusal that does not count yet. */
  uncountedRefusal: string | null;
  /** Database time of the read. */
  readAt: Date;
};

/** A row whose count holds the call that is made next. */
export type Counted<Row extends OrderCalls> = {
  row: Row;
  /** `lastCallAt` before this call was counted. */
  formerCallAt: Date | null;
};

/** The acquirer's answer to one call. Only `refused` says that this call has no effect. */
export type OrderAnswer<Value> = { kind: 'accepted'; value: Value } | Refused | Unknown;

/** What one call means for its row. The service applies it under the version of the row that was counted. */
export type OrderStep<Value> =
  /** The acquirer has the order. */
  | { kind: 'accepted'; value: Value }
  /** Nothing was ordered, and nothing will be. */
  | { kind: 'fail'; reason: string }
  /** An earlier call may still have its effect: the refusal is recorded, the first one stands, and it counts later. */
  | { kind: 'record_refusal'; reason: string }
  /** This call was not made: it is taken off the count, and `lastCallAt` is set back. */
  | {
      kind: 'uncount';
      lastCallAt: Date | null;
      cause: 'too_late' | 'never_sent';
      /** Why the acquirer's client did not send it; null where it was not asked to. */
      error: string | null;
    }
  /** Nothing is known; a status check decides. */
  | { kind: 'check_later'; error: string };

/**
 * What follows from the answer to a counted call (decisions 62, 118, 119): an unknown outcome is no failure, and a
 * refusal counts at once only where no other call of the order is without an answer.
 */
export function decideAnswer<Row extends OrderCalls, Value>(
  { row, formerCallAt }: Counted<Row>,
  answer: OrderAnswer<Value>,
): OrderStep<Value> {
  switch (answer.kind) {
    case 'accepted':
      return answer;
    case 'refused': {
      const reason = `${answer.code}: ${answer.message}`;
      return { kind: row.unansweredCalls === 1 ? 'fail' : 'record_refusal', reason };
    }
    case 'unknown':
      return wasNeverSent(answer)
        ? { kind: 'uncount', lastCallAt: formerCallAt, cause: 'never_sent', error: answer.cause }
        : { kind: 'check_later', error: answer.cause };
    default:
      return assertNever(answer);
  }
}

/** In milliseconds. */
export type OrderLimits = {
  /**
   * How long after it was counted a call may be under way: until it begins, and then until the acquirer is given up.
   */
  callMs: number;
  /** How long a refusal waits after the last call before it counts (decision 119). */
  refusalWaitMs: number;
};

export type NotFoundStep =
  | { kind: 'check_later' }
  /** The same call may be made again, under the same id. */
  | { kind: 'order_again' }
  | { kind: 'fail'; reason: string };

/**
 * What follows when the acquirer says that it has no such order, for one that it never accepted. A call that may be
 * under way is waited for, and nothing is ordered again after a refusal. Age alone ends nothing.
 */
export function decideNotFound(order: OrderCalls, limits: OrderLimits): NotFoundStep {
  const sinceLastCallMs = millisecondsSince(order.lastCallAt, order.readAt);
  if (sinceLastCallMs < limits.callMs) return { kind: 'check_later' };
  if (order.uncountedRefusal === null) return { kind: 'order_again' };
  if (sinceLastCallMs < limits.refusalWaitMs) return { kind: 'check_later' };
  return { kind: 'fail', reason: order.uncountedRefusal };
}

function millisecondsSince(then: Date | null, now: Date): number {
  return then === null ? Number.POSITIVE_INFINITY : now.getTime() - then.getTime();
}
