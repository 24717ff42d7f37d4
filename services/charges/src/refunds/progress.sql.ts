import { endLease, isDue, nextCheck, takeLease } from '@pixmesh/postgres/due-rows';
import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { RefundRow } from './refund-row.ts';
import { REFUND_COLUMNS, type RefundRecord, toRefundRow } from './refunds.sql.ts';

/** Leases up to `limit` due refunds and intents, those that wait to be sent first. Reads `refunds_check_at`. */
export async function leaseDueRefunds(
  db: Queryable,
  options: { limit: number; leaseMs: number },
): Promise<RefundRow[]> {
  const rows = await db.query<RefundRecord>(
    named(
      'refunds_lease_due',
      sql`
        with due as (
          select id as due_id
          from refunds
          where ${isDue('routine')}
          order by check_at
          limit ${options.limit}
          for update skip locked
        )
        update refunds
        set ${takeLease(options.leaseMs)}
        from due
        where id = due_id
        returning ${REFUND_COLUMNS}`,
    ),
  );
  return rows.map(toRefundRow);
}

/**
 * Counts one more call to the acquirer before it is made: a crash in the middle leaves it unanswered. Answers the refund
 * as it stands then; null when it has moved since it was read, and no call may be made.
 */
export async function countPut(db: Queryable, refund: RefundRow): Promise<RefundRow | null> {
  const rows = await db.query<RefundRecord>(
    named(
      'refund_count_put',
      sql`
        update refunds
        set unanswered_puts = unanswered_puts + 1, first_put_at = coalesce(first_put_at, now()), last_put_at = now(),
            version = version + 1
        where id = ${refund.id} and version = ${refund.version} and lease_token = ${refund.leaseToken}
          and status = 'processing'
        returning ${REFUND_COLUMNS}`,
    ),
  );
  return rows[0] ? toRefundRow(rows[0]) : null;
}

/** Takes a counted call back that was never made. */
export async function uncountPut(
  db: Queryable,
  counted: RefundRow,
  before: Pick<RefundRow, 'lastPutAt'> & { lookInMs: number },
): Promise<boolean> {
  return await writeIfUnmoved(
    db,
    named(
      'refund_uncount_put',
      sql`
        update refunds
        set unanswered_puts = unanswered_puts - 1, last_put_at = ${before.lastPutAt}, version = version + 1,
            ${endLease(before.lookInMs)}
        where id = ${counted.id} and version = ${counted.version}
        returning id`,
    ),
  );
}

/** The acquirer has the refund at work: no call of it is without an answer any more. */
export async function markTaken(
  db: Queryable,
  refund: RefundRow,
  taken: { returnId: string | null; lookInMs: number },
): Promise<boolean> {
  return await writeIfUnmoved(
    db,
    named(
      'refund_mark_taken',
      sql`
        update refunds
        set unanswered_puts = 0, uncounted_refusal = null, return_id = coalesce(${taken.returnId}, return_id),
            version = version + 1, checks = 0, lease_token = null, lease_until = null, ${nextCheck(taken.lookInMs)}
        where id = ${refund.id} and version = ${refund.version}
        returning id`,
    ),
  );
}

/** Remembers a refusal that does not count yet; the first one stands. */
export async function keepRefusal(
  db: Queryable,
  refund: RefundRow,
  refusal: { reason: string; lookInMs: number },
): Promise<boolean> {
  return await writeIfUnmoved(
    db,
    named(
      'refund_keep_refusal',
      sql`
        update refunds
        set uncounted_refusal = coalesce(uncounted_refusal, ${refusal.reason}), version = version + 1,
            ${endLease(refusal.lookInMs)}
        where id = ${refund.id} and version = ${refund.version}
        returning id`,
    ),
  );
}

/** Ends a look that changed nothing. */
export async function releaseRefund(
  db: Queryable,
  refund: RefundRow,
  nextInMs: number | null,
): Promise<void> {
  await db.query(
    named(
      'refund_release',
      sql`
        update refunds set ${endLease(nextInMs)}
        where id = ${refund.id} and lease_token = ${refund.leaseToken}`,
    ),
  );
}

/** The money is back at its payer; belongs into the transaction that moves the charge and orders the hold's end. */
export async function completeRefund(
  db: Queryable,
  refund: RefundRow,
  completed: { returnId: string | null; at: Date | null },
): Promise<boolean> {
  return await writeIfUnmoved(
    db,
    named(
      'refund_complete',
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
      'refund_fail',
      sql`
        with failed as (
          update refunds
          set status = 'failed', failure_reason = ${failed.reason}, ended_at = now(), version = version + 1, check_at = null,
              lease_token = null, lease_until = null
          where id = ${refund.id} and version = ${refund.version} and status = 'processing'
          returning id
        ),
        ${appendEvents(sql`select from failed`, [failed.command])}
        select id from failed`,
    ),
  );
}

const OVERDUE_MS = 15 * 60_000;
/** Counting stops here: a scrape must not cost more the longer an outage lasts. */
const COUNT_MAX = 10_000;

/** Refunds without an end long after their first call. Reads `refunds_open`. */
export async function countOverdue(db: Queryable): Promise<number> {
  const [row] = await db.query<{ overdue: number }>(
    named(
      'refunds_count_overdue',
      sql`
        select count(*)::int as overdue
        from (
          select from refunds
          where status in ('intent', 'processing')
            and first_put_at <= now() - ${OVERDUE_MS}::int * interval '1 ms'
          limit ${COUNT_MAX}
        ) as late`,
    ),
  );
  return row?.overdue ?? 0;
}

async function writeIfUnmoved(db: Queryable, statement: Statement): Promise<boolean> {
  return (await db.query(statement)).length === 1;
}
