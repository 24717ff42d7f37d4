import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { Overdue } from '#reports.ts';
import { isStopped } from '#stops/in-force.sql.ts';

const UNANSWERED_ALERT_MS = 15 * 60_000;
const UNSENT_ALERT_MS = 30_000;
/** An outgoing Pix rests for an hour at most, and ends soon after. */
const RESTING_ALERT_MS = 90 * 60_000;
/** Counting stops here: a scrape must not cost more the longer an outage lasts. */
const COUNT_MAX = 10_000;

/**
 * Money of the payouts that are due to be sent and that no stop holds back, up to a bound of them. Reads
 * `payouts_send_at`.
 */
export async function sumDue(db: Queryable): Promise<number> {
  const [row] = await db.query<{ cents: number }>(
    named(
      'payouts_sum_due',
      sql`
        select coalesce(sum(amount), 0)::float8 as cents
        from (
          select amount
          from payouts
          where send_at <= now() and not ${isStopped(sql`payouts.account_id`)}
          limit ${COUNT_MAX}
        ) as due`,
    ),
  );
  return row?.cents ?? 0;
}

/**
 * Payouts without a definite answer long after their first call, payouts that were not sent, and payouts that have not
 * ended long after the acquirer accepted them. Those that wait for a sender and are stopped are counted as stops. Reads
 * `payouts_check_at`, `payouts_send_at` and `payouts_open`.
 *
 * Payouts whose calls could not be made, such as without a token, count as unsent: a call that was not made is taken off
 * the count, and without an answer no status check has the payout sent again. Their age is that of their creation.
 */
export async function countOverdue(db: Queryable): Promise<Overdue> {
  const [row] = await db.query<Overdue>(
    named(
      'payouts_count_overdue',
      sql`
        select
          (
            select count(*)::int
            from (
              select from payouts
              where (check_at is not null or send_at is not null)
                and status = 'processing'
                and processed_at is null
                and ending is null
                and first_put_at <= now() - ${UNANSWERED_ALERT_MS}::int * interval '1 ms'
                and (send_at is null or not ${isStopped(sql`payouts.account_id`)})
              limit ${COUNT_MAX}
            ) as unanswered
          ) as unanswered,
          (
            select count(*)::int
            from (
              (
                select account_id
                from payouts
                where send_at <= now() - ${UNSENT_ALERT_MS}::int * interval '1 ms'
                  and not ${isStopped(sql`payouts.account_id`)}
                limit ${COUNT_MAX}
              )
              union all
              (
                select account_id
                from (${oldestProcessing(UNSENT_ALERT_MS)}) as old
                where send_at is null
                  and first_put_at is null
                  and processed_at is null
                  and not ${isStopped(sql`old.account_id`)}
              )
            ) as unsent
          ) as unsent,
          (
            select count(*)::int
            from (${oldestProcessing(RESTING_ALERT_MS)}) as old
            where processed_at <= now() - ${RESTING_ALERT_MS}::int * interval '1 ms'
          ) as resting`,
    ),
  );
  return row ?? { unanswered: 0, unsent: 0, resting: 0 };
}

/** Payouts in `processing` whose end is not ordered, created so long ago; of many the oldest. */
function oldestProcessing(ageMs: number): Statement {
  return sql`
    select account_id, send_at, first_put_at, processed_at
    from (
      select account_id, send_at, first_put_at, processed_at, ending
      from payouts
      where status = 'processing' and created_at <= now() - ${ageMs}::int * interval '1 ms'
      order by created_at
      limit ${COUNT_MAX}
    ) as processing
    where ending is null`;
}
