import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { DueDelivery } from '#attempts/due-delivery.ts';
import type { DeliveredEvent } from '#deliveries/event-parts.ts';
import { isDisabled } from '#lanes/disabled-endpoint.sql.ts';
import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/** What a sender wants of a lane that it has. */
export type LaneWish = {
  id: string;
  /** Deliveries at most. */
  take: number;
  /** Recovered ones among them at most. */
  recovered: number;
  /** Whether the oldest retry or recovered delivery comes before the first attempts. */
  wantsOther: boolean;
  /** Queue rows whose requests are out. */
  inFlight: readonly string[];
};

export type Fetched = {
  due: DueDelivery[];
  /** Lanes whose endpoint is deleted and in which something is left to cancel. */
  deletedLaneIds: string[];
};

/**
 * What is due in lanes that this sender has, with what an attempt needs: the endpoint's URL and secret are those it has
 * now, so a change holds from the next attempt on (decision 159). A quiet endpoint's lane gives only what an operator
 * sends again. Nothing is written and nothing is locked. Reads the beginnings of ranges of `queue_lane` and
 * `queue_resends`, whatever else waits in a lane or beside it, and every other row by its key.
 */
export async function fetchDue(
  db: Queryable,
  clock: ScheduleClock,
  wishes: readonly LaneWish[],
): Promise<Fetched> {
  const rows = await db.query<FetchedRow>(fetchDueStatement(clock, wishes));
  return {
    due: rows.flatMap((row) => (row.is_deleted ? [] : [toDue(row)])),
    deletedLaneIds: rows.flatMap((row) => (row.is_deleted ? [row.lane_id] : [])),
  };
}

export function fetchDueStatement(clock: ScheduleClock, wishes: readonly LaneWish[]): Statement {
  const now = scheduleNow(clock);
  return named(
    'queue_fetch_due',
    sql`
      select
        lane.id as lane_id, lane.is_deleted, picked.id, picked.delivery_id, picked.endpoint_id, picked.rank,
        picked.is_resend, picked.recovery_id, picked.attempt_count + 1 as attempt_number,
        event.account_id, event.type as event, event.traceparent, event.body_rest,
        coalesce(resource.url, endpoint.url) as url,
        ${secretOf} as sealed_secret, ${secretOwnerOf} as secret_owner_id,
        (extract(epoch from ${now}) * 1000)::float8 as fetched_at_ms,
        extract(epoch from ${now} - coalesce(uuid_extract_timestamp(picked.event_id), event.occurred_at))::float8
          as event_age_seconds
      from (${wishedLanes(wishes)}) lane
      left join lateral (${pickedInLane(now)}) picked on true
      left join lateral (
        select account_id, resource_id, type, traceparent, body_rest, occurred_at
        from events
        where events.event_id = picked.event_id
        offset 0
      ) event on true
      left join lateral (
        select url, sealed_secret
        from destinations
        where destinations.resource_id = event.resource_id
          and (picked.endpoint_id is null or picked.for_resource_url)
        offset 0
      ) resource on true
      left join lateral (
        select url, sealed_secret, ${isDisabled} as is_quiet
        from endpoints
        where endpoints.id = picked.endpoint_id
        offset 0
      ) endpoint on true
      where picked.id is not null
        or lane.is_deleted and (select true from queue where queue.lane_id = lane.id limit 1)`,
  );
}

function wishedLanes(wishes: readonly LaneWish[]): Statement {
  return sql`
        select
          wish.id, wish.take, wish.recovered, wish.other, wish.busy::uuid[] as busy,
          coalesce(endpoint.is_quiet, false) as is_quiet, coalesce(endpoint.is_deleted, false) as is_deleted
        from unnest(
            ${wishes.map(({ id }) => id)}::uuid[],
            ${wishes.map(({ take }) => take)}::int[],
            ${wishes.map(({ recovered }) => recovered)}::int[],
            ${wishes.map(({ wantsOther }) => (wantsOther ? 1 : 0))}::int[],
            ${wishes.map(({ inFlight }) => `{${inFlight.join(',')}}`)}::text[]
          ) as wish (id, take, recovered, other, busy)
        left join lateral (
          select ${isDisabled} as is_quiet, deleted_at is not null as is_deleted
          from endpoints
          where endpoints.id = wish.id
          offset 0
        ) endpoint on true`;
}

const columns = sql`
              id, delivery_id, event_id, endpoint_id, for_resource_url, rank, is_resend, recovery_id, attempt_count,
              due_at`;

/**
 * First attempts before all others, but for one of the others where the lane wants it. The branches are read one after
 * the other and no further than the limit; the others once for both of theirs, because read twice, what is due at one
 * instant may come in two orders. A quiet lane gives single re-sends before recovered deliveries.
 */
function pickedInLane(now: Statement): Statement {
  return sql`
          with others as materialized (${others(now)})
          select *
          from (
            select * from (select * from others limit lane.other) first_of_others
            union all
            select * from (${range(now, sql`rank = 0 and not lane.is_quiet`)} limit lane.take) firsts
            union all
            select * from (select * from others offset lane.other limit lane.take) rest_of_others
            union all
            select * from (${range(now, sql`rank = 0 and ${isResendToQuiet}`)} limit lane.take) single_resends
            union all
            select * from (${range(now, sql`rank = 2 and ${isResendToQuiet}`)} limit lane.recovered) recovered
          ) waiting
          limit lane.take`;
}

/** What a quiet lane gives all the same. */
const isResendToQuiet = sql`is_resend and lane.is_quiet and not lane.is_deleted`;

/** Retries and recovered deliveries, those first that are due longest. */
function others(now: Statement): Statement {
  return sql`select *
            from (
              (${range(now, sql`rank = 1 and not lane.is_quiet`)} limit lane.take + lane.other)
              union all
              (${range(now, sql`rank = 2 and not lane.is_quiet`)} limit lane.recovered)
            ) other
            order by due_at`;
}

function range(now: Statement, condition: Statement): Statement {
  return sql`select ${columns}
              from queue
              where queue.lane_id = lane.id
                and ${condition}
                and due_at <= ${now}
                and id <> all (lane.busy)
              order by due_at`;
}

/**
 * What stands for both goes to the URL of the resource in any case: under the secret of the endpoint while that is
 * active there and has one, else under that of the resource. Where the resource has none, the endpoint's is used all
 * the same, wherever the endpoint has gone: never less signed, and never silent (decision 179).
 */
const isLive = sql`(resource.url is null or not endpoint.is_quiet and endpoint.url = resource.url)`;
const secretOf = sql`case when ${isLive} and endpoint.sealed_secret is not null then endpoint.sealed_secret
          else coalesce(resource.sealed_secret, endpoint.sealed_secret) end`;
const secretOwnerOf = sql`case
          when endpoint.sealed_secret is null then event.resource_id
          when ${isLive} or resource.sealed_secret is null then picked.endpoint_id
          else event.resource_id end`;

type FetchedRow = { is_deleted: true; lane_id: string } | DueRow;

type DueRow = {
  is_deleted: false;
  lane_id: string;
  id: string;
  delivery_id: string;
  endpoint_id: string | null;
  rank: number;
  is_resend: boolean;
  recovery_id: string | null;
  attempt_number: number;
  account_id: string;
  event: DeliveredEvent;
  traceparent: string | null;
  body_rest: Buffer;
  url: string;
  sealed_secret: string | null;
  secret_owner_id: string;
  fetched_at_ms: number;
  event_age_seconds: number;
};

function toDue(row: DueRow): DueDelivery {
  return {
    queueId: row.id,
    deliveryId: row.delivery_id,
    laneId: row.lane_id,
    endpointId: row.endpoint_id,
    rank: row.rank,
    isResend: row.is_resend,
    recoveryId: row.recovery_id,
    attemptNumber: row.attempt_number,
    accountId: row.account_id,
    event: row.event,
    url: row.url,
    sealedSecret: row.sealed_secret,
    secretOwnerId: row.secret_owner_id,
    bodyRest: row.body_rest,
    traceparent: row.traceparent,
    fetchedAtMs: row.fetched_at_ms,
    eventAgeSeconds: row.event_age_seconds,
  };
}
