import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { DueDelivery } from '#attempts/due-delivery.ts';
import { isDisabled } from '#lanes/disabled-endpoint.sql.ts';
import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/** What a sender requests of a lane that it owns. */
export type LaneRequest = {
  id: string;
  /** Deliveries at most. */
  take: number;
  /** Recovered ones among them at most. */
  recovered: number;
  /** Whether the oldest retry or recovered delivery comes before the first attempts. */
  wantsOther: boolean;
  /** Queue rows that are being sent. */
  inFlight: readonly string[];
};

export type Fetched = {
  due: DueDelivery[];
  /** Lanes of deleted endpoints in which something is left to cancel. */
  deletedLaneIds: string[];
};

/**
 * What is due in lanes that this sender owns, with what an attempt needs: the endpoint's URL and secret are those it
 * has now, so a change holds from the next attempt on (decision 159). Nothing is written and nothing is locked. Reads
 * the beginnings of ranges of `queue_lane` and `queue_resends`, whatever else is queued, and every other row by its
 * key.
 */
export async function fetchDue(
  db: Queryable,
  clock: ScheduleClock,
  requests: readonly LaneRequest[],
): Promise<Fetched> {
  const rows = await db.query<FetchedRow>(fetchDueStatement(clock, requests));
  return {
    due: rows.filter((row) => !row.isDeleted),
    deletedLaneIds: rows.filter(({ isDeleted }) => isDeleted).map(({ laneId }) => laneId),
  };
}

/**
 * A delivery for an endpoint that is also the one for the URL of its resource goes to that URL in any case (decision
 * 179). The endpoint signs it while it is enabled there, or where the resource has no secret: never less signed.
 */
export function fetchDueStatement(
  clock: ScheduleClock,
  requests: readonly LaneRequest[],
): Statement {
  const now = scheduleNow(clock);
  return named(
    'queue_fetch_due',
    sql`
      select
        lane.id as "laneId", lane.is_deleted as "isDeleted", picked.id as "queueId",
        picked.delivery_id as "deliveryId", picked.endpoint_id as "endpointId", picked.rank,
        picked.is_resend as "isResend", picked.recovery_id as "recoveryId",
        picked.attempt_count + 1 as "attemptNumber", event.account_id as "accountId", event.type as event,
        event.traceparent, event.body_rest as "bodyRest", coalesce(resource.url, endpoint.url) as url,
        case when signer.is_endpoint then endpoint.sealed_secret else resource.sealed_secret end as "sealedSecret",
        case when signer.is_endpoint then picked.endpoint_id else event.resource_id end as "secretOwnerId",
        (extract(epoch from ${now}) * 1000)::float8 as "fetchedAtMs",
        extract(epoch from ${now} - coalesce(uuid_extract_timestamp(picked.event_id), event.occurred_at))::float8
          as "eventAgeSeconds"
      from (
        select
          request.id, request.take, request.recovered, request.other, request.in_flight::uuid[] as in_flight,
          coalesce(endpoint.is_disabled, false) as is_disabled, coalesce(endpoint.is_deleted, false) as is_deleted
        from unnest(
            ${requests.map(({ id }) => id)}::uuid[],
            ${requests.map(({ take }) => take)}::int[],
            ${requests.map(({ recovered }) => recovered)}::int[],
            ${requests.map(({ wantsOther }) => (wantsOther ? 1 : 0))}::int[],
            ${requests.map(({ inFlight }) => `{${inFlight.join(',')}}`)}::text[]
          ) as request (id, take, recovered, other, in_flight)
        left join lateral (
          select ${isDisabled} as is_disabled, deleted_at is not null as is_deleted
          from endpoints
          where endpoints.id = request.id
          offset 0
        ) endpoint on true
      ) lane
      left join lateral (${dueInLane(now)}) picked on true
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
        select url, sealed_secret, ${isDisabled} as is_disabled
        from endpoints
        where endpoints.id = picked.endpoint_id
        offset 0
      ) endpoint on true
      cross join lateral (
        select endpoint.sealed_secret is not null and (
            resource.url is null
            or resource.sealed_secret is null
            or not endpoint.is_disabled and endpoint.url = resource.url
          ) as is_endpoint
      ) signer
      where picked.id is not null
        or lane.is_deleted and (select true from queue where queue.lane_id = lane.id limit 1)`,
  );
}

/**
 * Rows of the queue that are due in `lane`, in the order in which they are sent: first attempts before all others, but
 * for one of the others where that is requested. A disabled lane gives only what an operator sends again, single
 * re-sends before recovered deliveries, and a deleted one gives nothing.
 *
 * The branches of the union are read one after the other and no further than the limit. The others are read once for
 * both of their branches: read twice, rows due at one instant may come in two orders.
 */
function dueInLane(now: Statement): Statement {
  return sql`
          with others as materialized (
            select *
            from (
              (
                select * from queue
                where queue.lane_id = lane.id and rank = 1 and not lane.is_disabled
                  and due_at <= ${now} and id <> all (lane.in_flight)
                order by due_at
                limit lane.take + lane.other
              )
              union all
              (
                select * from queue
                where queue.lane_id = lane.id and rank = 2 and not lane.is_disabled
                  and due_at <= ${now} and id <> all (lane.in_flight)
                order by due_at
                limit lane.recovered
              )
            ) other
            order by due_at
          )
          select *
          from (
            (select * from others limit lane.other)
            union all
            (
              select * from queue
              where queue.lane_id = lane.id and rank = 0 and not lane.is_disabled
                and due_at <= ${now} and id <> all (lane.in_flight)
              order by due_at
              limit lane.take
            )
            union all
            (select * from others offset lane.other limit lane.take)
            union all
            (
              select * from queue
              where queue.lane_id = lane.id and rank = 0 and is_resend and lane.is_disabled and not lane.is_deleted
                and due_at <= ${now} and id <> all (lane.in_flight)
              order by due_at
              limit lane.take
            )
            union all
            (
              select * from queue
              where queue.lane_id = lane.id and rank = 2 and is_resend and lane.is_disabled and not lane.is_deleted
                and due_at <= ${now} and id <> all (lane.in_flight)
              order by due_at
              limit lane.recovered
            )
          ) due
          limit lane.take`;
}

type FetchedRow = { isDeleted: true; laneId: string } | ({ isDeleted: false } & DueDelivery);
