import type { ChargeId, HoldId, OperatorId, RefundId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import type { ChargeRow } from '#charge/charge-row.ts';
import { CHARGE_COLUMNS, type ChargeRecord, toChargeRow } from '#charge/charges.sql.ts';

import { isVisible, type RefundRow, type VisibleRefund } from './refund-row.ts';
import { REFUND_COLUMNS, type RefundRecord, toRefundRow } from './refunds.sql.ts';

/** The charge, locked for the rest of the transaction: one transaction at a time counts what is left of it. */
export async function lockCharge(tx: Transaction, id: ChargeId): Promise<ChargeRow | null> {
  const rows = await tx.query<ChargeRecord>(
    named(
      'lock_charge',
      sql`select ${CHARGE_COLUMNS} from charges where id = ${id} for no key update`,
    ),
  );
  return rows[0] ? toChargeRow(rows[0]) : null;
}

/**
 * What of a Pix has gone back or is on its way: open refunds, and every recorded return (those of completed refunds
 * among them). Reads `refunds_open` and the primary key of `pix_returns`.
 */
export async function sumTaken(tx: Transaction, endToEndId: string): Promise<Cents> {
  const [row] = await tx.query<{ taken: bigint }>(
    named(
      'sum_taken',
      sql`
        select (
          (
            select coalesce(sum(amount), 0)
            from refunds
            where end_to_end_id = ${endToEndId} and status in ('intent', 'processing')
          ) + (
            select coalesce(sum(amount), 0) from pix_returns where end_to_end_id = ${endToEndId}
          )
        )::bigint as taken`,
    ),
  );
  return toCents(row?.taken ?? 0n);
}

export type NewIntent = {
  id: RefundId;
  charge: ChargeRow;
  endToEndId: string;
  amount: Cents;
  holdId: HoldId;
  requestedBy: OperatorId;
  fingerprint: Buffer;
  /** When the job checks it for the first time, if nobody finishes it before. */
  firstCheckMs: number;
};

/**
 * Stores the intent of a refund; null when the id exists. The primary key is the lock of an `Idempotency-Key`. Jobs
 * that take the refund up later continue the trace of this request.
 */
export async function insertIntent(tx: Transaction, intent: NewIntent): Promise<RefundRow | null> {
  const rows = await tx.query<RefundRecord>(
    named(
      'insert_refund_intent',
      sql`
        insert into refunds (
          id, charge_id, account_id, end_to_end_id, amount, hold_id, requested_by, fingerprint, check_at,
          check_traceparent
        )
        values (
          ${intent.id}, ${intent.charge.id}, ${intent.charge.accountId}, ${intent.endToEndId}, ${intent.amount},
          ${intent.holdId}, ${intent.requestedBy}, ${intent.fingerprint},
          now() + ${intent.firstCheckMs}::int * interval '1 ms', ${currentTraceParent()}
        )
        on conflict (id) do nothing
        returning ${REFUND_COLUMNS}`,
    ),
  );
  return rows[0] ? toRefundRow(rows[0]) : null;
}

/**
 * Makes a held intent the refund that it was meant to be, due to be sent at once. Null when the row is no such intent
 * any more: another process has finished or dropped it.
 */
export async function commitIntent(
  db: Queryable,
  intent: RefundRow,
): Promise<VisibleRefund | null> {
  const rows = await db.query<RefundRecord>(
    named(
      'commit_refund_intent',
      sql`
        update refunds
        set status = 'processing', version = version + 1, check_at = '-infinity', checks = 0,
            lease_token = null, lease_until = null
        where id = ${intent.id} and hold_id = ${intent.holdId} and status = 'intent'
        returning ${REFUND_COLUMNS}`,
    ),
  );
  const row = rows[0] ? toRefundRow(rows[0]) : null;
  return row !== null && isVisible(row) ? row : null;
}

/**
 * Drops an intent whose hold was refused or voided, so that its key is free again. False when another process has
 * dropped it, and perhaps begun anew under another hold.
 */
export async function deleteIntent(db: Queryable, intent: RefundRow): Promise<boolean> {
  const rows = await db.query(
    named(
      'delete_refund_intent',
      sql`
        delete from refunds
        where id = ${intent.id} and hold_id = ${intent.holdId} and status = 'intent'
        returning id`,
    ),
  );
  return rows.length === 1;
}
