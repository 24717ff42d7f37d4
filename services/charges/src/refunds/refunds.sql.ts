import {
  type AccountId,
  type ChargeId,
  fromAcquirerId,
  type HoldId,
  type OperatorId,
  type RefundId,
  toAcquirerId,
} from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { type ListPage, pageOf, rowById, startOf } from '@pixmesh/postgres/newest-first';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { ORDER_COLUMNS, type OrderRecord, toOrderCalls } from '#returns/return-orders.sql.ts';

import type { RefundRow } from './refund-row.ts';

/** Columns of every statement that answers refunds; map them with `toRefundRow`. */
export const REFUND_COLUMNS = sql`
  id, charge_id, account_id, end_to_end_id, amount, status, failure_reason, return_id, hold_id, requested_by,
  fingerprint, created_at, completed_at, ${ORDER_COLUMNS}`;

/** The refund or intent under an id. Primary key read. */
export async function findRefund(db: Queryable, id: RefundId): Promise<RefundRow | null> {
  const rows = await db.query<RefundRecord>(
    named('find_refund', sql`select ${REFUND_COLUMNS} from refunds where id = ${id}`),
  );
  return rows[0] ? toRefundRow(rows[0]) : null;
}

/**
 * Those of the acquirer's ids of returns that are refunds of ours and may have been carried out. One that has failed is
 * none of them: its hold was released, so money that went back all the same is booked as a return by itself
 * (decision 120).
 */
export async function findOwnRefunds(
  db: Queryable,
  returnIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const ids = returnIds.flatMap((id) => fromAcquirerId<RefundId>(id) ?? []);
  if (ids.length === 0) return new Set();
  const rows = await db.query<{ id: RefundId }>(
    named(
      'find_own_refunds',
      sql`
        select id from refunds
        where id = any(${ids}::uuid[]) and status in ('processing', 'completed')`,
    ),
  );
  return new Set(rows.map(({ id }) => toAcquirerId(id)));
}

/** One page of the refunds of a charge, newest first. Reads `refunds_charge`. */
export async function listRefunds(
  db: Queryable,
  chargeId: ChargeId,
  page: ListPage,
): Promise<RefundRow[]> {
  const { limit, startingAfter } = page;
  const start = startOf({}, startingAfter === null ? null : cursorOf(chargeId, startingAfter));
  const rows = sql`
    select ${REFUND_COLUMNS} from refunds where charge_id = ${chargeId} and status <> 'intent'`;
  return (await db.query<RefundRecord>(pageOf(rows, start, limit))).map(toRefundRow);
}

export async function listedRefundExists(
  db: Queryable,
  chargeId: ChargeId,
  id: string,
): Promise<boolean> {
  return (await db.query(cursorOf(chargeId, id))).length === 1;
}

function cursorOf(chargeId: ChargeId, id: string): Statement {
  return sql`
    select cursor.created_at, cursor.id
    from (${rowById(sql`select id, charge_id, status, created_at from refunds`, id)}) as cursor
    where cursor.charge_id = ${chargeId} and cursor.status <> 'intent'`;
}

export type RefundRecord = OrderRecord & {
  id: RefundId;
  charge_id: ChargeId;
  account_id: AccountId;
  end_to_end_id: string;
  amount: bigint;
  status: RefundRow['status'];
  failure_reason: string | null;
  return_id: string | null;
  hold_id: HoldId;
  requested_by: OperatorId;
  fingerprint: Buffer;
  created_at: Date;
  completed_at: Date | null;
};

export function toRefundRow(row: RefundRecord): RefundRow {
  return {
    id: row.id,
    chargeId: row.charge_id,
    accountId: row.account_id,
    endToEndId: row.end_to_end_id,
    amount: toCents(row.amount),
    status: row.status,
    failureReason: row.failure_reason,
    returnId: row.return_id,
    holdId: row.hold_id,
    requestedBy: row.requested_by,
    fingerprint: row.fingerprint,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    ...toOrderCalls(row),
  };
}
