import type { EventName } from '@pixmesh/contracts/events/event-catalogue';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { isQuiet } from '#endpoints/quiet-endpoint.sql.ts';

import { type ScheduleClock, scheduleNow } from './schedule-clock.ts';

/** Due rows looked at per claim; a lane with many of them gives its bound and is left out of the next claim. */
const SCAN_MAX = 256;

export type ClaimedDelivery = {
  id: string;
  /** The claim this is: outcomes of an older one are refused. */
  fence: number;
  /** Which attempt follows, from 1. */
  attemptNumber: number;
  accountId: string;
  event: EventName;
  laneId: string;
  url: string;
  sealedSecret: string | null;
  /** Whose secret it is, the endpoint's or the resource's: the seal is bound to that id. */
  secretOwnerId: string;
  body: Buffer;
  traceparent: string | null;
  /** Database time of the claim. */
  claimedAt: Date;
  /** Since the event happened. */
  eventAgeSeconds: number;
  /** Whether an earlier claim ended without an outcome: its request may have been made. */
  isRepeat: boolean;
};

type ClaimOptions = {
  clock: ScheduleClock;
  limit: number;
  leaseMs: number;
  perLaneMax: number;
  /** Sends in flight by lane, in this process. */
  inFlight: ReadonlyMap<string, number>;
};

export type Claim = {
  claimed: ClaimedDelivery[];
  /** Paused or deleted, with deliveries that are due: nothing is to be sent to them now. */
  quietEndpointIds: string[];
};

/**
 * Leases due deliveries, oldest first, within each lane's bound. The lease is `due_at` moved behind its end,
 * so a crashed sender's rows come due by themselves and nothing has to sweep them. An endpoint's URL and secret are
 * those it has now, so a change holds from the next attempt on (decision 159). Reads `deliveries_due`, then every
 * other row by its key; row locks last for this statement only and are never waited for. The conditions stand in
 * `picked` again because a row that another sender has just leased is judged by its new version there; as one
 * expression, or a plan made while the tables were small reads `deliveries_due` once more for each row.
 */
export async function claimDeliveries(db: Queryable, options: ClaimOptions): Promise<Claim> {
  const rows = await db.query<ClaimRow>(claimStatement(options));
  return {
    claimed: rows.flatMap((row) => (row.is_withheld ? [] : [toClaimed(row)])),
    quietEndpointIds: [
      ...new Set(rows.flatMap((row) => (row.is_withheld ? [row.endpoint_id] : []))),
    ],
  };
}

export function claimStatement(options: ClaimOptions): Statement {
  return named(
    'deliveries_claim',
    sql`
      with ${dueDeliveries(options)},
      ${leasedDeliveries(options)}
      ${whatToSend(options)}`,
  );
}

/**
 * CTE `due`: the oldest that are due, each with whether it must wait or end with its endpoint. What stands for the
 * URL of its resource too never does: a pause must not silence the resource (decision 179).
 */
function dueDeliveries(options: ClaimOptions): Statement {
  const fullLanes = [...options.inFlight.keys()].filter((lane) => isFull(options, lane));
  return sql`
      scanned as (
        select id, lane_id, due_at, endpoint_id, for_resource_url
        from deliveries
        where status = 'pending'
          and due_at <= ${scheduleNow(options.clock)}
          and lane_id <> all (${fullLanes}::uuid[])
        order by due_at
        limit ${SCAN_MAX}
      ),
      due as (
        select
          scanned.id, scanned.lane_id, scanned.due_at, scanned.endpoint_id,
          coalesce(endpoint.is_quiet, false) as is_withheld
        from scanned
        left join lateral (
          select ${isQuiet} as is_quiet
          from endpoints
          where endpoints.id = scanned.endpoint_id
            and not scanned.for_resource_url
          offset 0
        ) endpoint on true
      )`;
}

/** CTE `claimed`: those of them that may go out now, under a lease. */
function leasedDeliveries(options: ClaimOptions): Statement {
  const now = scheduleNow(options.clock);
  return sql`
      ranked as (
        select id, lane_id, due_at, row_number() over (partition by lane_id order by due_at, id) as place
        from due
        where not is_withheld
      ),
      picked as (
        select delivery.id, delivery.leased as is_repeat
        from ranked
        join deliveries delivery on delivery.id = ranked.id
        left join unnest(${[...options.inFlight.keys()]}::uuid[], ${[...options.inFlight.values()]}::int[])
          as busy (lane_id, in_flight) on busy.lane_id = ranked.lane_id
        where ranked.place <= ${options.perLaneMax} - coalesce(busy.in_flight, 0)
          and case when delivery.status = 'pending' then delivery.due_at <= ${now} end
        order by ranked.due_at
        limit ${options.limit}
        for update of delivery skip locked
      ),
      claimed as (
        update deliveries delivery
        set leased = true,
            fence = fence + 1,
            due_at = ${now} + ${options.leaseMs} * interval '1 millisecond'
        from picked
        where delivery.id = picked.id
        returning delivery.*, picked.is_repeat
      )`;
}

/**
 * An endpoint's URL and secret, or the resource's where no endpoint is meant. What stands for both goes to the URL of
 * the resource in any case, under the secret of the endpoint for as long as that is active there and has one, else
 * under that of the resource: never less signed, and never silent (decision 179).
 */
function whatToSend(options: ClaimOptions): Statement {
  const now = scheduleNow(options.clock);
  return sql`
      select
        due.id, due.is_withheld, due.endpoint_id, claimed.fence, claimed.attempt_count + 1 as attempt_number,
        claimed.account_id, claimed.event, claimed.lane_id, claimed.traceparent, body.body,
        coalesce(resource.url, endpoint.url) as url,
        coalesce(endpoint.sealed_secret, resource.sealed_secret) as sealed_secret,
        case when endpoint.sealed_secret is null then claimed.resource_id else claimed.endpoint_id end
          as secret_owner_id,
        claimed.is_repeat, ${now} as claimed_at,
        extract(epoch from ${now} - coalesce(uuid_extract_timestamp(claimed.event_id), claimed.created_at))::float8
          as event_age_seconds
      from due
      left join claimed on claimed.id = due.id
      left join lateral (
        select body from delivery_bodies where delivery_bodies.delivery_id = claimed.id offset 0
      ) body on true
      left join lateral (
        select url, sealed_secret
        from destinations
        where destinations.resource_id = claimed.resource_id
          and (claimed.endpoint_id is null or claimed.for_resource_url)
        offset 0
      ) resource on true
      left join lateral (
        select url, sealed_secret
        from endpoints
        where endpoints.id = claimed.endpoint_id
          and (not claimed.for_resource_url or url = resource.url and not ${isQuiet})
        offset 0
      ) endpoint on true
      where due.is_withheld or claimed.id is not null`;
}

function isFull(options: ClaimOptions, lane: string): boolean {
  return (options.inFlight.get(lane) ?? 0) >= options.perLaneMax;
}

/** A row that is withheld has nothing but its ids. */
type ClaimRow = { id: string; is_withheld: true; endpoint_id: string } | ClaimedRow;

type ClaimedRow = {
  id: string;
  is_withheld: false;
  fence: number;
  attempt_number: number;
  account_id: string;
  event: EventName;
  lane_id: string;
  traceparent: string | null;
  url: string;
  sealed_secret: string | null;
  secret_owner_id: string;
  body: Buffer;
  is_repeat: boolean;
  claimed_at: Date;
  event_age_seconds: number;
};

function toClaimed(row: ClaimedRow): ClaimedDelivery {
  return {
    id: row.id,
    fence: row.fence,
    attemptNumber: row.attempt_number,
    accountId: row.account_id,
    event: row.event,
    laneId: row.lane_id,
    url: row.url,
    sealedSecret: row.sealed_secret,
    secretOwnerId: row.secret_owner_id,
    body: row.body,
    traceparent: row.traceparent,
    claimedAt: row.claimed_at,
    eventAgeSeconds: row.event_age_seconds,
    isRepeat: row.is_repeat,
  };
}
