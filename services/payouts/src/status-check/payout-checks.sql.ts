import type { AnswerWord } from '@pixmesh/acquirer/describe-answer';
import type { PayoutId } from '@pixmesh/kernel/ids';
import { IS_FREE, type Urgency } from '@pixmesh/postgres/due-rows';
import { leaseDueInTurn, type LeaseTurn } from '@pixmesh/postgres/lease-in-turn';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { endCheckLease, IS_REALLY_DUE, takeCheckLease } from '#payouts/check-time.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import { PAYOUT_COLUMNS, type PayoutRecord, toPayoutRow } from '#payouts/payouts.sql.ts';

const PAYOUTS = { table: sql`payouts`, key: sql`id`, columns: PAYOUT_COLUMNS };

/**
 * Leases up to `limit` due payouts and intents to the caller, accounts in turn. Reads `payouts_requested` or
 * `payouts_check_at`.
 */
export async function leaseDuePayouts(
  db: Queryable,
  urgency: Urgency,
  options: LeaseTurn,
): Promise<PayoutRow[]> {
  const only = urgency === 'routine' ? IS_REALLY_DUE : sql`true`;
  const statement = leaseDueInTurn(PAYOUTS, { ...options, urgency, only });
  const rows = await db.query<PayoutRecord>(named(`payouts_lease_${urgency}`, statement));
  return rows.map(toPayoutRow);
}

/**
 * Leases one payout for a check that does not count, but for the first: one that an operator asks for makes no later
 * one rarer. Null while another check of it is under way.
 */
export async function leasePayout(
  db: Queryable,
  id: PayoutId,
  leaseMs: number,
): Promise<PayoutRow | null> {
  const rows = await db.query<PayoutRecord>(
    named(
      'payouts_lease_one',
      sql`
        update payouts
        set ${takeCheckLease(leaseMs)}, checks = greatest(checks - 1, 0)
        where id = ${id} and ${IS_FREE}
        returning ${PAYOUT_COLUMNS}`,
    ),
  );
  return rows[0] ? toPayoutRow(rows[0]) : null;
}

/**
 * Ends a check that changed nothing, with what it was answered (null for an intent: the acquirer was not asked), and
 * says when the next one is due; null: only when asked.
 */
export async function releasePayout(
  db: Queryable,
  payout: PayoutRow,
  { answer, nextInMs }: { answer: AnswerWord | null; nextInMs: number | null },
): Promise<void> {
  await db.query(
    named(
      'payouts_end_check',
      sql`
        update payouts
        set ${endCheckLease(nextInMs)}, last_check_at = now(), last_check_answer = ${answer}
        where id = ${payout.id} and lease_token = ${payout.leaseToken}`,
    ),
  );
}

/**
 * Ends a check by asking for the same call again, under the same idEnvio. Checks go on until a sender takes it up,
 * since a stop may keep it from being sent for long, and an earlier call may still show its effect meanwhile. They
 * leave its place in the queue of its account. False when the payout has moved since it was read: its end may be
 * ordered by now, or a call under way.
 */
export async function sendAgain(
  db: Queryable,
  payout: PayoutRow,
  nextInMs: number,
): Promise<boolean> {
  const rows = await db.query(
    named(
      'payouts_send_again',
      sql`
        update payouts
        set send_at = coalesce(send_at, now()), version = version + 1, ${endCheckLease(nextInMs)},
            last_check_at = now(), last_check_answer = 'not_found'
        where id = ${payout.id} and version = ${payout.version}
        returning id`,
    ),
  );
  return rows.length === 1;
}

/** Requests a check at once, on behalf of the trace that caused it. Nothing where no such payout exists. */
export async function requestCheck(
  db: Queryable,
  id: PayoutId,
  traceparent: string | null,
): Promise<void> {
  await db.query(
    named(
      'payouts_request_check',
      sql`
        update payouts
        set check_at = '-infinity', due_at = null, check_traceparent = coalesce(${traceparent}, check_traceparent)
        where id = ${id}`,
    ),
  );
}

/**
 * Moves `check_at` to the time of the check where that is later, and to null where none is due. Most payouts have ended
 * before this finds them. Reads `payouts_check_at`.
 */
export async function postponeChecks(db: Queryable, limit: number): Promise<void> {
  await db.query(
    named(
      'payouts_postpone_checks',
      sql`
        with later as (
          select id as later_id
          from payouts
          where check_at <= now() and check_at > '-infinity' and due_at > now()
          order by check_at
          limit ${limit}
          for update skip locked
        )
        update payouts
        set check_at = nullif(due_at, 'infinity'), due_at = null
        from later
        where id = later_id`,
    ),
  );
}
