import type { Acquirer, PixReturn, RefundOutcome } from '@pixmesh/acquirer/client';
import { wasNeverSent } from '@pixmesh/acquirer/never-sent';
import { assertNever } from '@pixmesh/kernel/app-error';
import { type CheckPeriods, nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';

import { type Failpoint, failpoint } from '#failpoints.ts';

import {
  decideOrderAnswer,
  decideOrderLook,
  type OrderProblem,
  type OrderStep,
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
  failpoints: Record<'beforeCall' | 'inCall' | 'afterAnswer', Failpoint>;
  called(row: Row, outcome: RefundOutcome): void;
  showedProblem(row: Row, problem: OrderProblem): void;
  /** The money is back at its payer. */
  end(row: Row, returned: PixReturn): Promise<void>;
  /** Nothing was returned, and nothing will be. */
  fail(row: Row, reason: string): Promise<void>;
};

/** A leased order, and until when by `performance.now()` a call of it may begin and still end within the lease. */
export type LeasedOrder<Row> = { row: Row; callBeforeMs: number };

/**
 * One look at a leased order: it is read at the acquirer by its own id, ordered where it is not there, and ended as
 * `decideOrderLook` says. Money leaves once, whatever gets lost on the way.
 */
export async function followOrder<Row extends OrderRow>(
  deps: FollowDeps,
  kind: OrderKind<Row>,
  leased: LeasedOrder<Row>,
): Promise<void> {
  const { row } = leased;
  if (row.lastPutAt === null) return await order(deps, kind, leased);
  const found = await deps.acquirer.getRefund(row.endToEndId, toAcquirerId(row.id));
  const step = decideOrderLook(row, found, deps);
  if (step.kind === 'put') return await order(deps, kind, leased);
  const returnId = found.kind === 'found' ? found.value.returnId : null;
  await takeStep(deps, kind, { row, step, returnId });
}

/** One call, counted before it is made, outside any transaction. */
async function order<Row extends OrderRow>(
  deps: FollowDeps,
  kind: OrderKind<Row>,
  { row, callBeforeMs }: LeasedOrder<Row>,
): Promise<void> {
  const counted = await kind.orders.countPut(deps.db, row);
  if (counted === null) return;
  await failpoint(kind.failpoints.beforeCall);
  const { lastPutAt } = row;
  if (performance.now() >= callBeforeMs) {
    // A process that slept must not call any more: others count on the call having ended with the lease.
    await kind.orders.uncountPut(deps.db, counted, { lastPutAt, lookInMs: 0 });
    return;
  }
  const outcome = await call(deps, kind, counted);
  kind.called(counted, outcome);
  await failpoint(kind.failpoints.afterAnswer);
  if (wasNeverSent(outcome)) {
    const lookInMs = nextCheckMs(row.checks, deps.unknownChecks);
    await kind.orders.uncountPut(deps.db, counted, { lastPutAt, lookInMs });
    return;
  }
  const returnId = outcome.kind === 'accepted' ? outcome.refund.returnId : null;
  await takeStep(deps, kind, { row: counted, step: decideOrderAnswer(counted, outcome), returnId });
}

async function call<Row extends OrderRow>(
  { acquirer }: FollowDeps,
  { failpoints }: OrderKind<Row>,
  { endToEndId, id, amount }: Row,
): Promise<RefundOutcome> {
  const [outcome] = await Promise.all([
    acquirer.refund({ endToEndId, refundId: toAcquirerId(id), amountCents: amount }),
    failpoint(failpoints.inCall),
  ]);
  return outcome;
}

type Taken<Row, Step> = { row: Row; step: Step; returnId: string | null };

/** Every write is guarded by the version of the read: an answer that comes too late changes nothing. */
async function takeStep<Row extends OrderRow>(
  deps: FollowDeps,
  kind: OrderKind<Row>,
  { row, step, returnId }: Taken<Row, OrderStep>,
): Promise<void> {
  switch (step.kind) {
    case 'returned':
      return await kind.end(row, step.returned);
    case 'fail':
      return await kind.fail(row, step.reason);
    case 'keep_refusal': {
      const lookInMs = nextCheckMs(row.checks, deps.unknownChecks);
      await kind.orders.keepRefusal(deps.db, row, { reason: step.reason, lookInMs });
      return;
    }
    case 'look_later':
      return await lookLater(deps, kind, { row, step, returnId });
    case 'put':
      return await kind.orders.release(deps.db, row, 0);
    default:
      return assertNever(step);
  }
}

async function lookLater<Row extends OrderRow>(
  deps: FollowDeps,
  kind: OrderKind<Row>,
  { row, step, returnId }: Taken<Row, Extract<OrderStep, { kind: 'look_later' }>>,
): Promise<void> {
  if (step.problem !== null) kind.showedProblem(row, step.problem);
  const isTaken = step.pace === 'accepted' && step.problem === null && row.unansweredPuts > 0;
  // From here on the looks are about something else: however many it took until now does not make them rarer.
  if (isTaken) {
    const lookInMs = nextCheckMs(0, deps.acceptedChecks);
    await kind.orders.markTaken(deps.db, row, { returnId, lookInMs });
    return;
  }
  const periods = step.pace === 'accepted' ? deps.acceptedChecks : deps.unknownChecks;
  await kind.orders.release(deps.db, row, nextCheckMs(row.checks, periods));
}
