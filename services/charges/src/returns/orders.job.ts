import type { Database } from '@pixmesh/postgres/pool';
import { startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
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
  /** Ids for log lines. */
  describe(row: Row): Record<string, string>;
};

/** Leases due orders and has each checked; a call may begin only while it would end within its lease. */
export function startOrdersJob<Row extends OrderRow>(options: OrdersJobOptions<Row>): PollingLoop {
  const { db, logger, signal, name, orders, inFlightMax, leaseMs } = options;
  return startDueRowsJob<LeasedOrder<Row>>({
    name,
    logger,
    signal,
    inFlightMax,
    sources: [{ take, max: inFlightMax }],
    handle: (leased) => options.handle(leased),
    describe: ({ row }) => options.describe(row),
    parentOf: ({ row }) => row.checkTraceparent,
    accountOf: ({ row }) => row.accountId,
  });

  async function take(limit: number): Promise<LeasedOrder<Row>[]> {
    const callBeforeMs = performance.now() + leaseMs - options.acquirerTimeoutMs;
    const rows = await orders.leaseDue(db, { limit, leaseMs });
    return rows.map((row) => ({ row, callBeforeMs }));
  }
}
