import type { OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';
import { appendEventsAndCommands } from '@pixmesh/postgres/unanswered-commands';

import { createReturnOrders } from '#returns/return-orders.sql.ts';

import type { RefundRow } from './refund-row.ts';
import { REFUND_COLUMNS, type RefundRecord, toRefundRow } from './refunds.sql.ts';

/** Calls that order refunds, and the leases of status checks. Reads `refunds_requested` and `refunds_check_at`. */
export const refundOrders = createReturnOrders<RefundRow, RefundRecord>({
  table: sql`refunds`,
  name: 'refund',
  columns: REFUND_COLUMNS,
  account: sql`account_id`,
  isOpen: sql`status = 'processing'`,
  toRow: toRefundRow,
});

/** The money is back at its payer; belongs into the transaction that moves the charge and orders the hold's end. */
export async function completeRefund(
  db: Queryable,
  refund: RefundRow,
  completed: { returnId: string | null; at: Date | null },
): Promise<boolean> {
  return await writeIfUnmoved(
    db,
    named(
      'complete_refund',
      sql`
        update refunds
        set status = 'completed', completed_at = coalesce(${completed.at}, now()), ended_at = now(),
            return_id = coalesce(${completed.returnId}, return_id), unanswered_puts = 0, uncounted_refusal = null,
            version = version + 1, check_at = null, lease_token = null, lease_until = null
        where id = ${refund.id} and version = ${refund.version} and status = 'processing'
        returning id`,
    ),
  );
}

/** Nothing went back: the refund fails, and the order to release its hold is written with it. */
export async function failRefund(
  db: Queryable,
  refund: RefundRow,
  failed: { reason: string; command: OutboundEvent },
): Promise<boolean> {
  return await writeIfUnmoved(
    db,
    named(
      'fail_refund',
      sql`
        with failed as (
          update refunds
          set status = 'failed', failure_reason = ${failed.reason}, ended_at = now(), version = version + 1, check_at = null,
              lease_token = null, lease_until = null
          where id = ${refund.id} and version = ${refund.version} and status = 'processing'
          returning id
        ),
        ${appendEventsAndCommands(sql`select from failed`, [failed.command])}
        select id from failed`,
    ),
  );
}

/**
 * Records that the hold of an ended refund had ended otherwise, once, with a line in its charge's record of ignored
 * events. False when it is recorded already.
 */
export async function contradictHold(
  db: Queryable,
  refund: RefundRow,
  state: 'settled' | 'released' | 'voided',
): Promise<boolean> {
  const rows = await db.query(
    named(
      'contradict_refund_hold',
      sql`
        with contradicted as (
          update refunds
          set hold_contradiction = ${state}, version = version + 1
          where id = ${refund.id} and hold_contradiction is null
          returning id, charge_id
        )
        insert into ignored_events (charge_id, event, detail, status)
        select charge_id, 'refund_hold_' || ${state}::text, contradicted.id::text, charges.status
        from contradicted join charges on charges.id = charge_id
        on conflict (charge_id, event, detail) do nothing
        returning charge_id`,
    ),
  );
  return rows.length === 1;
}

const OVERDUE_MS = 15 * 60_000;
/** Counting stops here: a scrape must not cost more the longer an outage lasts. */
const COUNT_MAX = 10_000;

/** Refunds without an end long after their first call, or after their creation where none was made. Reads `refunds_open`. */
export async function countOverdue(db: Queryable): Promise<number> {
  const [row] = await db.query<{ overdue: number }>(
    named(
      'count_overdue_refunds',
      sql`
        select count(*)::int as overdue
        from (
          select from refunds
          where status in ('intent', 'processing')
            and coalesce(first_put_at, created_at) <= now() - ${OVERDUE_MS}::int * interval '1 ms'
          limit ${COUNT_MAX}
        ) as late`,
    ),
  );
  return row?.overdue ?? 0;
}

async function writeIfUnmoved(db: Queryable, statement: Statement): Promise<boolean> {
  return (await db.query(statement)).length === 1;
}
