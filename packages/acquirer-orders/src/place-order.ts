import {
  type Counted,
  decideAnswer,
  type OrderAnswer,
  type OrderCalls,
  type OrderStep,
} from './order-calls.ts';

/** One order at the acquirer, as its service calls for it. */
export type Order<Row extends OrderCalls, Value> = {
  /**
   * Counts the call in a commit of its own, so that a crash leaves it unanswered. Null where the row has moved since it
   * was read or its lease is over: no call may be made then.
   */
  count(): Promise<Counted<Row> | null>;
  /** Until when by `performance.now()` a call may begin and still end within its lease. */
  callBeforeMs: number;
  /** Makes the call under the acquirer's deadline; throws for bugs only. No transaction is open. */
  call(row: Row): Promise<OrderAnswer<Value>>;
  /** Releases what only the call needs, as soon as it has ended. Must not throw: the answer matters more. */
  release?(): Promise<void>;
  /** Logs and counts an answer. */
  answered(row: Row, answer: OrderAnswer<Value>): void;
  /** Where a test can make the process die, hang or fail. */
  failpoint(name: OrderFailpoint): Promise<void>;
};

export type OrderFailpoint = 'before-call' | 'in-call' | 'after-answer';

/** The row as it was counted, and what the call means for it. */
type Placed<Row, Value> = { row: Row; step: OrderStep<Value> };

/**
 * Makes one call that orders something at the acquirer: counted before it is made, outside any transaction, within its
 * lease. A lost call or answer leaves the call counted as unanswered, and a status check decides. The caller
 * applies the step guarded by the version of `row`: an answer that comes too late changes nothing.
 *
 * Null: the row has moved, and no call was made.
 */
export async function placeOrder<Row extends OrderCalls, Value>(
  order: Order<Row, Value>,
): Promise<Placed<Row, Value> | null> {
  const counted = await order.count();
  if (counted === null) return null;
  const { row, formerCallAt: lastCallAt } = counted;
  const answer = await callWithinLease(order, row);
  if (answer === null) {
    return { row, step: { kind: 'uncount', lastCallAt, cause: 'too_late', error: null } };
  }
  order.answered(row, answer);
  await order.failpoint('after-answer');
  return { row, step: decideAnswer(counted, answer) };
}

/** Null for a process that slept: others count on every call having ended with its lease. */
async function callWithinLease<Row extends OrderCalls, Value>(
  order: Order<Row, Value>,
  row: Row,
): Promise<OrderAnswer<Value> | null> {
  try {
    await order.failpoint('before-call');
    if (performance.now() >= order.callBeforeMs) return null;
    const [answer] = await Promise.all([order.call(row), order.failpoint('in-call')]);
    return answer;
  } finally {
    await order.release?.();
  }
}
