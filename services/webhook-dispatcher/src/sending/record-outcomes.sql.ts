import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from './schedule-clock.ts';

/** An attempt that was made, with the state that follows from it. */
export type AttemptOutcome = {
  deliveryId: string;
  fence: number;
  startedAt: Date;
  durationMs: number;
  outcome: 'succeeded' | 'failed';
  status: number | null;
  error: string | null;
  responseExcerpt: string | null;
  address: string | null;
  nextStatus: 'pending' | 'succeeded' | 'failed';
  /** Until the next attempt, counted from now; null when none follows. */
  retryDelayMs: number | null;
};

/**
 * Writes attempts and next states of many deliveries in one statement, each only under the claim that it
 * belongs to, and once: said again after a lost answer it changes nothing. Answers the deliveries whose
 * claim still stands. The next attempt counts from this statement's time, which is after the failure: never
 * early. A delivery that was canceled while its request was out gets the attempt into its history and stays
 * canceled (decision 158). Locks the deliveries' rows and waits for them, by id: two batches that share some cannot
 * deadlock, and everybody else who locks deliveries passes over what is locked. Reads them
 * by an array of keys: as a join, a plan that was made early reads the whole table.
 */
export async function insertAttempts(
  db: Queryable,
  clock: ScheduleClock,
  outcomes: readonly AttemptOutcome[],
): Promise<Set<string>> {
  const rows = await db.query<{ delivery_id: string }>(attemptsStatement(clock, outcomes));
  return new Set(rows.map((row) => row.delivery_id));
}

export function attemptsStatement(
  clock: ScheduleClock,
  outcomes: readonly AttemptOutcome[],
): Statement {
  const now = scheduleNow(clock);
  return named(
    'attempts_insert',
    sql`
        with ${madeAttempts(outcomes)},
        held as (
          select id, fence
          from deliveries
          where id = any (array(select delivery_id from made))
          order by id
          for update
        ),
        moved as (
          update deliveries delivery
          set status = case when delivery.status = 'pending' then made.next_status else delivery.status end,
              attempt_count = delivery.attempt_count + 1,
              next_attempt_at = case
                when delivery.status = 'pending' then ${now} + made.retry_delay_ms * interval '1 millisecond'
              end,
              due_at = ${now} + coalesce(made.retry_delay_ms, 0) * interval '1 millisecond',
              leased = false
          from made
          where delivery.id = made.delivery_id
            and delivery.id = any (array(select id from held))
            and delivery.fence = made.fence
            and delivery.leased
            and delivery.status in ('pending', 'canceled')
          returning delivery.id, delivery.attempt_count
        ),
        attempted as (
          insert into attempts (
            delivery_id, number, started_at, duration_ms, outcome, status, error, response_excerpt, address
          )
          select
            moved.id, moved.attempt_count, made.started_at, made.duration_ms, made.outcome, made.status,
            made.error, made.response_excerpt, made.address
          from moved
          join made on made.delivery_id = moved.id
        )
        select made.delivery_id
        from made
        join held on held.id = made.delivery_id and held.fence = made.fence`,
  );
}

/** CTE `made`: the outcomes as rows. */
function madeAttempts(outcomes: readonly AttemptOutcome[]): Statement {
  const column = <Key extends keyof AttemptOutcome>(key: Key): AttemptOutcome[Key][] =>
    outcomes.map((outcome) => outcome[key]);
  return sql`
      made as (
        select * from unnest(
          ${column('deliveryId')}::uuid[],
          ${column('fence')}::int[],
          ${column('startedAt')}::timestamptz[],
          ${column('durationMs')}::int[],
          ${column('outcome')}::text[],
          ${column('status')}::int[],
          ${column('error')}::text[],
          ${column('responseExcerpt')}::text[],
          ${column('address')}::text[],
          ${column('nextStatus')}::text[],
          ${column('retryDelayMs')}::float8[]
        ) as made (
          delivery_id, fence, started_at, duration_ms, outcome, status, error, response_excerpt,
          address, next_status, retry_delay_ms
        )
      )`;
}
