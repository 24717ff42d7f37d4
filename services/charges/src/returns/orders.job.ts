import { fourTimesFree } from '@pixmesh/fair-share/share-of-places';
import type { AccountId } from '@pixmesh/kernel/ids';
import { BEFORE_ALL_ACCOUNTS, inTurn } from '@pixmesh/postgres/accounts-in-turn';
import type { Urgency } from '@pixmesh/postgres/due-rows';
import { startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { LeaseTurn } from '@pixmesh/postgres/lease-in-turn';
import type { Database } from '@pixmesh/postgres/pool';
import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { LeasedOrder } from './follow-order.ts';
import type { OrderRow, ReturnOrders } from './return-orders.sql.ts';

type OrdersJobOptions<Row extends OrderRow> = {
  db: Database;
  logger: Logger;
  signal: WakeSignal;
  /** Names the span of one status check. */
  name: string;
  orders: ReturnOrders<Row>;
  /** Orders that a process has under way at the acquirer at most. */
  inFlightMax: number;
  leaseMs: number;
  acquirerTimeoutMs: number;
  handle(leased: LeasedOrder<Row>): Promise<void>;
  /** In whose turns it is made; null: the platform's. */
  accountOf(row: Row): AccountId | null;
  /** Ids for log lines. */
  describe(row: Row): Record<string, string>;
};

type DueOrder<Row> = LeasedOrder<Row> & { accountId: AccountId };

/**
 * Leases due orders and has each checked, accounts in turn, and new ones and those that are checked again by turns; a
 * call may begin only while it would end within its lease.
 */
export function startOrdersJob<Row extends OrderRow>(options: OrdersJobOptions<Row>): PollingLoop {
  const { db, logger, signal, name, orders, inFlightMax, leaseMs, accountOf } = options;
  return startDueRowsJob<DueOrder<Row>>({
    name,
    logger,
    signal,
    inFlightMax,
    sources: [
      { take: inTurn((turn) => take('requested', turn)), max: inFlightMax },
      { take: (limit, except) => take('routine', { limit, except }), max: inFlightMax },
    ],
    handle: (leased) => options.handle(leased),
    describe: ({ row }) => options.describe(row),
    parentOf: ({ row }) => row.checkTraceparent,
    share: fourTimesFree,
    accountOf: ({ row }) => accountOf(row),
  });

  async function take(
    urgency: Urgency,
    turn: Omit<LeaseTurn, 'leaseMs'>,
  ): Promise<DueOrder<Row>[]> {
    const callBeforeMs = performance.now() + leaseMs - options.acquirerTimeoutMs;
    const rows = await orders.leaseDue(db, urgency, { ...turn, leaseMs });
    return rows.map((row) => ({
      row,
      callBeforeMs,
      accountId: accountOf(row) ?? BEFORE_ALL_ACCOUNTS,
    }));
  }
}
