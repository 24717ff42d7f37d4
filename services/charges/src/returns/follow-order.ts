import type { OrderAnswer, OrderStep } from '@pixmesh/acquirer-orders/order-calls';
import { type OrderFailpoint, placeOrder } from '@pixmesh/acquirer-orders/place-order';
import type { Acquirer, PixReturn } from '@pixmesh/acquirer/acquirer';
import { assertNever } from '@pixmesh/kernel/app-error';
import { type CheckPeriods, nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';

import {
  type OrderCheckStep,
  decideOrderCheck,
  decideReturned,
  type OrderProblem,
} from './decide-return-order.ts';
import type { OrderRow, ReturnOrders } from './return-orders.sql.ts';

/** What following ordered returns needs; periods in milliseconds. */
export type FollowDeps = {
  db: Database;
  acquirer: Pick<Acquirer, 'refund' | 'getRefund'>;
  acquirerTimeoutMs: number;
  /** How long a refusal waits after a call that ended unknown, before it counts (decision 119). */
  refusalWaitMs: number;
  unknownChecks: CheckPeriods;
  acceptedChecks: CheckPeriods;
};

/** What is particular to one kind of ordered return. */
export type OrderKind<Row extends OrderRow> = {
  orders: ReturnOrders<Row>;
  failpoint(name: OrderFailpoint): Promise<void>;
  answered(row: Row, answer: OrderAnswer<PixReturn>): void;
  reportProblem(row: Row, problem: OrderProblem): void;
  /** The money is back at its payer. */
  end(row: Row, returned: PixReturn): Promise<void>;
  /** Nothing was returned, and nothing will be. */
  fail(row: Row, reason: string): Promise<void>;
};

/** A leased order, and until when by `performance.now()` a call of it may begin and still end within the lease. */
export type LeasedOrder<Row> = { row: Row; callBeforeMs: number };

/**
 * One status check of a leased order: it is read at the acquirer by its own id, ordered where it is not there, and
 * ended as `decideOrderCheck` decides. A lost answer leads to no second order (`placeOrder`).
 */
export async function followOrder<Row extends OrderRow>(
  deps: FollowDeps,
  kind: OrderKind<Row>,
  { row, callBeforeMs }: LeasedOrder<Row>,
): Promise<void> {
  if (row.lastCallAt !== null) {
    const { accountId, endToEndId, id } = row;
    const found = await deps.acquirer.getRefund(endToEndId, toAcquirerId(id), { accountId });
    const step = decideOrderCheck(row, found, deps);
    if (step.kind !== 'order_again') return await applyStep(deps, kind, { row, step });
  }
  const placed = await placeOrder<Row, PixReturn>({
    count: () => kind.orders.countCall(deps.db, row),
    callBeforeMs,
    call: (counted) => callFor(deps, counted, callBeforeMs),
    answered: kind.answered,
    failpoint: kind.failpoint,
  });
  if (placed !== null) await applyStep(deps, kind, placed);
}

async function callFor(
  { acquirer }: FollowDeps,
  { endToEndId, id, accountId, amount }: OrderRow,
  callBeforeMs: number,
): Promise<OrderAnswer<PixReturn>> {
  const order = { endToEndId, refundId: toAcquirerId(id), amountCents: amount };
  const outcome = await acquirer.refund(order, { accountId, beginBeforeMs: callBeforeMs });
  return outcome.kind === 'accepted' ? { kind: 'accepted', value: outcome.refund } : outcome;
}

type Step = OrderStep<PixReturn> | Exclude<OrderCheckStep, { kind: 'order_again' }>;

/** Every write is guarded by the version of the row: an answer that comes too late changes nothing. */
async function applyStep<Row extends OrderRow>(
  deps: FollowDeps,
  kind: OrderKind<Row>,
  { row, step }: { row: Row; step: Step },
): Promise<void> {
  const { db } = deps;
  const { orders } = kind;
  const checkInMs = nextCheckMs(row.checks, deps.unknownChecks);
  switch (step.kind) {
    case 'accepted':
      return await applyStep(deps, kind, { row, step: decideReturned(row, step.value) });
    case 'returned':
      return await kind.end(row, step.returned);
    case 'fail':
      return await kind.fail(row, step.reason);
    case 'record_refusal':
      return void (await orders.recordRefusal(db, row, { reason: step.reason, checkInMs }));
    case 'uncount': {
      const { lastCallAt, cause } = step;
      const inMs = cause === 'too_late' ? 0 : checkInMs;
      return void (await orders.uncountCall(db, row, { lastCallAt, checkInMs: inMs }));
    }
    case 'check_later':
      return await orders.release(db, row, checkInMs);
    case 'contradicted':
      kind.reportProblem(row, step.problem);
      return await orders.release(db, row, nextCheckMs(row.checks, deps.acceptedChecks));
    case 'in_progress':
      return await recordInProgress(deps, orders, { row, returnId: step.returnId });
    default:
      return assertNever(step);
  }
}

async function recordInProgress<Row extends OrderRow>(
  { db, acceptedChecks }: FollowDeps,
  orders: ReturnOrders<Row>,
  { row, returnId }: { row: Row; returnId: string | null },
): Promise<void> {
  if (row.unansweredCalls === 0) {
    return await orders.release(db, row, nextCheckMs(row.checks, acceptedChecks));
  }
  // From here on the checks are about something else: however many it took until now does not make them rarer.
  const checkInMs = nextCheckMs(0, acceptedChecks);
  await orders.markAccepted(db, row, { returnId, checkInMs });
}
