import { NIL_ID } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/** An attempt that was made, with the state that follows from it. */
export type AttemptOutcome = {
  /** Minted with the attempt: recorded twice, it is one attempt. */
  attemptId: string;
  deliveryId: string;
  /** Its row in the queue. */
  queueId: string;
  laneId: string;
  /** The claim of the lane under which it was made. */
  fence: bigint;
  endpointId: string | null;
  isResend: boolean;
  /** Which attempt of the schedule it was; a re-send is outside of it. */
  attemptNumber: number;
  recoveryId: string | null;
  startedAt: Date;
  durationMs: number;
  outcome: 'succeeded' | 'failed';
  status: number | null;
  error: string | null;
  responseExcerpt: string | null;
  address: string | null;
  /** Until the next attempt of the schedule, counted from now; null when none follows. */
  retryDelayMs: number | null;
};

/** What the attempts of a lane have made of its breaker. */
export type LaneChange = {
  laneId: string;
  fence: bigint;
  failureCount: number;
  /** While the breaker is open: until the next probe, counted from now. */
  probeDelayMs: number | null;
};

export type OutcomeBatch = {
  outcomes: readonly AttemptOutcome[];
  lanes: readonly LaneChange[];
};

/**
 * Writes attempts and everything that follows from them in one statement, each only under the claim of the lane that it
 * was made under, and once: repeated after a lost answer it changes nothing. Answers the attempts whose claim still
 * stands. The next attempt counts from this statement's time, which is after the failure: never early. An attempt that
 * two owners of a lane have made, before and after the end of a lease, counts once.
 *
 * An attempt of the schedule moves the delivery while that is pending: one that was canceled while its request was out
 * gets the attempt into its history and stays canceled (decision 158). A re-send that succeeds ends the delivery and
 * its schedule, whatever it was; one that fails changes nothing but the history, unless it is the only attempt that its
 * delivery gets (a test delivery: its row in the queue has the delivery's own id). Rows are reached by arrays of keys:
 * as joins, plans that were made early read whole tables. What a batch has nothing for is left out of its statement:
 * most batches are small, and then a statement costs by its parts (ADR 0035).
 *
 * Where re-sends to endpoints succeeded, a second statement drops schedules that the first one does not see.
 */
export async function recordOutcomes(
  db: Queryable,
  clock: ScheduleClock,
  batch: OutcomeBatch,
): Promise<Set<string>> {
  const rows = await db.query<{ attempt_id: string }>(recordOutcomesStatement(clock, batch));
  const resent = batch.outcomes.filter(
    ({ isResend, outcome, endpointId }) =>
      isResend && outcome === 'succeeded' && endpointId !== null,
  );
  if (resent.length > 0) {
    await db.query(dropQueuedMeanwhileStatement(resent.map(({ deliveryId }) => deliveryId)));
  }
  return new Set(rows.map((row) => row.attempt_id));
}

export function recordOutcomesStatement(clock: ScheduleClock, batch: OutcomeBatch): Statement {
  const { outcomes, lanes } = batch;
  const now = scheduleNow(clock);
  const parts: Part[] = [];
  if (outcomes.some(({ retryDelayMs }) => retryDelayMs !== null)) parts.push(retriedAttempts(now));
  if (outcomes.some(({ endpointId }) => endpointId !== null)) parts.push(countedByEndpoint);
  if (outcomes.some(({ recoveryId }) => recoveryId !== null)) parts.push(countedByRecovery);
  if (lanes.length > 0) parts.push(changedLanes(now, lanes));
  const always = sql`${madeAttempts(outcomes)}, ${addedAttempts}, ${movedDeliveries(outcomes)}`;
  const all = parts.reduce((sofar, { ctes }) => sql`${sofar}, ${ctes}`, always);
  return named(
    ['outcomes_record', ...parts.map(({ name }) => name)].join('_'),
    sql`
      with ${all}
      select attempt_id
      from owned`,
  );
}

/**
 * Drops the schedules of deliveries that are over. Where a reactivation of their application queues them while their
 * re-sends are recorded (`queue-missed.sql.ts`), the statement that records them ends the deliveries and does not see
 * what was queued after it began. Reads both tables by their keys, and locks rows of the queue alone, in the order of their ids.
 */
export function dropQueuedMeanwhileStatement(deliveryIds: readonly string[]): Statement {
  return named(
    'queue_drop_queued_meanwhile',
    sql`
      delete from queue
      where id = any (array(
          select id
          from queue
          where id = any (array(
              select ended.id
              from unnest(${deliveryIds}::uuid[]) as resent (id)
              cross join lateral (
                select id from deliveries where deliveries.id = resent.id and status = 'succeeded' offset 0
              ) ended
            ))
            and not is_resend
          order by id
          for update
        ))`,
  );
}

/** CTEs of some batches; the names of those that a statement has are part of its own. */
type Part = { name: string; ctes: Statement };

/** CTE `made`: the outcomes as rows. */
function madeAttempts(outcomes: readonly AttemptOutcome[]): Statement {
  const column = <Key extends keyof AttemptOutcome>(key: Key): AttemptOutcome[Key][] =>
    outcomes.map((outcome) => outcome[key]);
  return sql`
      made as (
        select * from unnest(
          ${column('attemptId')}::uuid[],
          ${column('deliveryId')}::uuid[],
          ${column('queueId')}::uuid[],
          ${column('laneId')}::uuid[],
          ${column('fence').map(String)}::bigint[],
          ${column('endpointId')}::uuid[],
          ${column('isResend')}::boolean[],
          ${column('attemptNumber')}::int[],
          ${column('recoveryId')}::uuid[],
          ${column('startedAt')}::timestamptz[],
          ${column('durationMs')}::int[],
          ${column('outcome')}::text[],
          ${column('status')}::int[],
          ${column('error')}::text[],
          ${column('responseExcerpt')}::text[],
          ${column('address')}::text[],
          ${column('retryDelayMs')}::float8[]
        ) as made (
          attempt_id, delivery_id, queue_id, lane_id, fence, endpoint_id, is_resend, attempt_number, recovery_id, started_at,
          duration_ms, outcome, status, error, response_excerpt, address, retry_delay_ms
        )
      )`;
}

/** CTE `owned`: those whose claim still stands. CTE `fresh`: those of them that were not recorded before. */
const addedAttempts = sql`
      owned as materialized (
        select made.*
        from made
        cross join lateral (
          select from lanes where lanes.id = made.lane_id and lanes.fence = made.fence offset 0
        ) lane
      ),
      added as (
        insert into attempts (
          delivery_id, id, started_at, duration_ms, outcome, status, error, response_excerpt, address, manual
        )
        select
          delivery_id, attempt_id, started_at, duration_ms, outcome, status, error, response_excerpt, address, is_resend
        from owned
        on conflict (delivery_id, id) do nothing
        returning id
      ),
      fresh as materialized (
        select * from owned where attempt_id in (select id from added)
      )`;

/**
 * CTE `ended`: deliveries that are over by these attempts; the rest waits for its next attempt. CTE `locked`: rows of
 * the queue are locked before those of deliveries, as by everybody who needs both (`cancel-lanes.sql.ts`). The bounds
 * on the ids leave out partitions before they are opened: of an array of keys the planner knows nothing. The greatest
 * of several outcomes is `succeeded`, which sorts after `failed`.
 */
function movedDeliveries(outcomes: readonly AttemptOutcome[]): Statement {
  const ids = outcomes.map(({ deliveryId }) => deliveryId).toSorted();
  return sql`
      ended as materialized (
        select
          delivery_id, max(outcome) as status, bool_or(is_resend and outcome = 'succeeded') as by_resend
        from fresh
        where retry_delay_ms is null and (not is_resend or outcome = 'succeeded' or queue_id = delivery_id)
        group by delivery_id
      ),
      locked as materialized (
        select id
        from queue
        where id = any (array(
            select queue_id from fresh
            union
            select delivery_id from ended
          ))
        order by id
        for update
      ),
      gone as (
        delete from queue
        where id = any (array(
            select id
            from locked
            where id in (select queue_id from fresh where retry_delay_ms is null)
              or id in (select delivery_id from ended)
          ))
      ),
      moved as (
        update deliveries
        set status = (select ended.status from ended where ended.delivery_id = deliveries.id)
        where (select count(*) from locked) >= 0
          and id = any (array(select delivery_id from ended))
          and id >= ${ids.at(0) ?? NIL_ID}::uuid
          and id <= ${ids.at(-1) ?? NIL_ID}::uuid
          and (
            status = 'pending'
            or exists (select from ended where ended.delivery_id = deliveries.id and by_resend)
          )
      )`;
}

function retriedAttempts(now: Statement): Part {
  const ctes = sql`
      retried as (
        update queue
        set rank = 1,
            attempt_count = attempt_count + 1,
            due_at = ${now} + (
              select max(retry_delay_ms) from fresh where fresh.queue_id = queue.id
            ) * interval '1 millisecond'
        where (select count(*) from locked) >= 0
          and id = any (array(
            select queue_id
            from fresh
            where retry_delay_ms is not null and delivery_id not in (select delivery_id from ended)
          ))
          and attempt_count < (select max(attempt_number) from fresh where fresh.queue_id = queue.id)
      )`;
  return { name: 'retried', ctes };
}

const countedByEndpoint: Part = {
  name: 'counted',
  ctes: sql`
      finished as (
        select endpoint_id, outcome, started_at + duration_ms * interval '1 millisecond' as at
        from fresh
        where endpoint_id is not null
      ),
      health as (
        insert into endpoint_health as health
          (endpoint_id, succeeded_count, failed_count, last_success_at, last_failure_at, failing_since)
        select
          endpoint_id, count(*) filter (where outcome = 'succeeded'), count(*) filter (where outcome = 'failed'),
          max(at) filter (where outcome = 'succeeded'), max(at) filter (where outcome = 'failed'),
          case
            when max(at) filter (where outcome = 'succeeded') is null then min(at) filter (where outcome = 'failed')
            when max(at) filter (where outcome = 'failed') > max(at) filter (where outcome = 'succeeded')
              then max(at) filter (where outcome = 'failed')
          end
        from finished
        group by endpoint_id
        order by endpoint_id
        on conflict (endpoint_id) do update
        set succeeded_count = health.succeeded_count + excluded.succeeded_count,
            failed_count = health.failed_count + excluded.failed_count,
            last_success_at = greatest(health.last_success_at, excluded.last_success_at),
            last_failure_at = greatest(health.last_failure_at, excluded.last_failure_at),
            failing_since = case
              when excluded.last_success_at is null then coalesce(health.failing_since, excluded.failing_since)
              else excluded.failing_since
            end
      )`,
};

const countedByRecovery: Part = {
  name: 'recovered',
  ctes: sql`
      recovered as (
        update recoveries
        set succeeded_count = succeeded_count + (
              select count(*) from fresh where recovery_id = recoveries.id and outcome = 'succeeded'
            ),
            failed_count = failed_count + (
              select count(*) from fresh where recovery_id = recoveries.id and outcome = 'failed'
            )
        where id = any (array(select recovery_id from fresh where recovery_id is not null))
      )`,
};

/**
 * CTE `breaker`: the breakers as the lanes' owner has them now. CTE `changed`: its lanes are locked in the order of
 * their ids, as where it renews and returns them meanwhile.
 */
function changedLanes(now: Statement, lanes: readonly LaneChange[]): Part {
  const ids = lanes.map(({ laneId }) => laneId);
  const ctes = sql`
      changed as materialized (
        select id
        from lanes
        where id = any (${ids}::uuid[])
        order by id
        for no key update
      ),
      breaker as (
        update lanes
        set failure_count = change.failure_count,
            probe_at = ${now} + change.probe_delay_ms * interval '1 millisecond'
        from unnest(
            ${ids}::uuid[],
            ${lanes.map(({ fence }) => String(fence))}::bigint[],
            ${lanes.map(({ failureCount }) => failureCount)}::int[],
            ${lanes.map(({ probeDelayMs }) => probeDelayMs)}::float8[]
          ) as change (id, fence, failure_count, probe_delay_ms)
        where lanes.id = any (array(select id from changed))
          and lanes.id = change.id
          and lanes.fence = change.fence
      )`;
  return { name: 'breaker', ctes };
}
