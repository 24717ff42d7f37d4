import type { Counted } from '@pixmesh/acquirer-orders/order-calls';
import { endLease, nextCheck, type Urgency } from '@pixmesh/postgres/due-rows';
import type { AccountId } from '@pixmesh/kernel/ids';
import { leaseDueInTurn, type LeaseTurn } from '@pixmesh/postgres/lease-in-turn';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { ReturnOrder } from './decide-return-order.ts';

/** A return that is ordered from the acquirer, as a row of its table. Its id without hyphens is the return's there. */
export type OrderRow = ReturnOrder & {
  id: string;
  /** On whose behalf; null: the platform's. */
  accountId: AccountId | null;
  endToEndId: string;
  /** Counts changes; what a status check writes is guarded by it. */
  version: number;
  checks: number;
  checkTraceparent: string | null;
  leaseToken: string | null;
};

/** Columns of the calls and status checks of an order; map them with `toOrderCalls`. */
export const ORDER_COLUMNS = sql`
  version, unanswered_puts, last_put_at, uncounted_refusal, checks, check_traceparent, lease_token,
  date_trunc('milliseconds', now()) as read_at`;

export type OrderRecord = {
  version: number;
  unanswered_puts: number;
  last_put_at: Date | null;
  uncounted_refusal: string | null;
  checks: number;
  check_traceparent: string | null;
  lease_token: string | null;
  read_at: Date;
};

export function toOrderCalls(
  row: OrderRecord,
): Omit<OrderRow, 'id' | 'accountId' | 'endToEndId' | 'amount'> {
  return {
    version: row.version,
    unansweredCalls: row.unanswered_puts,
    lastCallAt: row.last_put_at,
    uncountedRefusal: row.uncounted_refusal,
    checks: row.checks,
    checkTraceparent: row.check_traceparent,
    leaseToken: row.lease_token,
    readAt: row.read_at,
  };
}

type OrderTable<Row, Stored> = {
  table: Statement;
  /** Begins the names of the statements. */
  name: string;
  columns: Statement;
  /** Whose turn a row takes, as the index of requested checks has it. */
  account: Statement;
  /** Rows of which the money may still be ordered. */
  isOpen: Statement;
  toRow(record: Stored): Row;
};

export type ReturnOrders<Row extends OrderRow> = {
  /** Leases up to `limit` due rows, accounts in turn. Reads the indexes `<table>_requested` and `<table>_check_at`. */
  leaseDue(db: Queryable, urgency: Urgency, turn: LeaseTurn): Promise<Row[]>;
  /**
   * Counts one more call to the acquirer before it is made: a crash in the middle leaves it unanswered. Null when
   * the row has moved since it was read or its lease is over: no call may be made then.
   */
  countCall(db: Queryable, row: Row): Promise<Counted<Row> | null>;
  /**
   * Takes a call that was not made off the count, and sets the times of the calls back: an order whose every call was
   * not made was never sent.
   */
  uncountCall(
    db: Queryable,
    counted: Row,
    before: { lastCallAt: Date | null; checkInMs: number },
  ): Promise<boolean>;
  /** The acquirer has accepted the return: no call of it is without an answer any more. */
  markAccepted(
    db: Queryable,
    row: Row,
    accepted: { returnId: string | null; checkInMs: number },
  ): Promise<boolean>;
  /** Records a refusal that does not count yet; the first one stands. */
  recordRefusal(
    db: Queryable,
    row: Row,
    refusal: { reason: string; checkInMs: number },
  ): Promise<boolean>;
  /** Ends a status check that changed nothing; null: no other one is due. */
  release(db: Queryable, row: Row, nextInMs: number | null): Promise<void>;
};

/**
 * What is written of the calls that order returns, for a table with the columns `version`, `unanswered_puts`,
 * `first_put_at`, `last_put_at`, `uncounted_refusal`, `return_id` and those of due rows. Every change is guarded by the
 * version, so that an answer which comes too late changes nothing.
 */
export function createReturnOrders<Row extends OrderRow, Stored extends object>(
  of: OrderTable<Row, Stored>,
): ReturnOrders<Row> {
  const { table, columns } = of;
  return {
    leaseDue: (db, urgency, turn) => leaseDueOrders(db, of, { ...turn, urgency }),
    countCall: async (db, row) => {
      const rows = await db.query<Stored>(
        named(
          `${of.name}_count_call`,
          sql`
            update ${table}
            set unanswered_puts = unanswered_puts + 1, first_put_at = coalesce(first_put_at, now()),
                last_put_at = now(), version = version + 1
            where id = ${row.id} and version = ${row.version} and lease_token = ${row.leaseToken}
              and ${of.isOpen}
            returning ${columns}`,
        ),
      );
      return rows[0] ? { row: of.toRow(rows[0]), formerCallAt: row.lastCallAt } : null;
    },
    uncountCall: (db, counted, { lastCallAt, checkInMs }) =>
      change(db, counted, {
        what: 'uncount_call',
        set: sql`
          unanswered_puts = unanswered_puts - 1,
          first_put_at = case when unanswered_puts > 1 then first_put_at end,
          last_put_at = ${lastCallAt}, ${endLease(checkInMs)}`,
      }),
    markAccepted: (db, row, { returnId, checkInMs }) =>
      change(db, row, {
        what: 'mark_accepted',
        set: sql`
          unanswered_puts = 0, uncounted_refusal = null, return_id = coalesce(${returnId}, return_id),
          checks = 0, lease_token = null, lease_until = null, ${nextCheck(checkInMs)}`,
      }),
    recordRefusal: (db, row, { reason, checkInMs }) =>
      change(db, row, {
        what: 'record_refusal',
        set: sql`
          uncounted_refusal = coalesce(uncounted_refusal, ${reason}), ${endLease(checkInMs)}`,
      }),
    release: async (db, row, nextInMs) => {
      const held = sql`where id = ${row.id} and lease_token = ${row.leaseToken}`;
      const statement = sql`update ${table} set ${endLease(nextInMs)} ${held}`;
      await db.query(named(`${of.name}_release`, statement));
    },
  };

  async function change(
    db: Queryable,
    row: Row,
    { what, set }: { what: string; set: Statement },
  ): Promise<boolean> {
    const rows = await db.query(
      named(
        `${of.name}_${what}`,
        sql`
          update ${table}
          set version = version + 1, ${set}
          where id = ${row.id} and version = ${row.version}
          returning id`,
      ),
    );
    return rows.length === 1;
  }
}

async function leaseDueOrders<Row, Stored extends object>(
  db: Queryable,
  { table, name, columns, account, toRow }: OrderTable<Row, Stored>,
  options: LeaseTurn & { urgency: Urgency },
): Promise<Row[]> {
  const statement = leaseDueInTurn({ table, key: sql`id`, columns, account }, options);
  const rows = await db.query<Stored>(named(`${name}_lease_${options.urgency}`, statement));
  return rows.map(toRow);
}
