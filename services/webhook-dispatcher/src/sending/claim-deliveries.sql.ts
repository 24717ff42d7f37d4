import type { EventName } from '@pixmesh/contracts/events/event-catalogue';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

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
  resourceId: string;
  event: EventName;
  laneId: string;
  url: string;
  sealedSecret: string | null;
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

/**
 * Leases due deliveries, oldest first, within each lane's bound. The lease is `due_at` moved behind its end,
 * so a crashed sender's rows come due by themselves and nothing has to sweep them. Reads `deliveries_due`;
 * row locks last for this statement only and are never waited for. The conditions stand in `picked` again
 * because a row that another sender has just leased is judged by its new version there.
 */
export async function claimDeliveries(
  db: Queryable,
  options: ClaimOptions,
): Promise<ClaimedDelivery[]> {
  const now = scheduleNow(options.clock);
  const lanes = [...options.inFlight.keys()];
  const fullLanes = lanes.filter((lane) => isFull(options, lane));
  const rows = await db.query<ClaimedRow>(
    named(
      'deliveries_claim',
      sql`
        with due as (
          select id, lane_id, due_at
          from deliveries
          where status = 'pending' and due_at <= ${now} and lane_id <> all (${fullLanes}::uuid[])
          order by due_at
          limit ${SCAN_MAX}
        ),
        ranked as (
          select id, lane_id, due_at, row_number() over (partition by lane_id order by due_at, id) as place
          from due
        ),
        picked as (
          select delivery.id, delivery.leased as is_repeat
          from ranked
          join deliveries delivery on delivery.id = ranked.id
          left join unnest(${lanes}::uuid[], ${[...options.inFlight.values()]}::int[])
            as busy (lane_id, in_flight) on busy.lane_id = ranked.lane_id
          where ranked.place <= ${options.perLaneMax} - coalesce(busy.in_flight, 0)
            and delivery.status = 'pending'
            and delivery.due_at <= ${now}
          order by ranked.due_at
          limit ${options.limit}
          for update of delivery skip locked
        )
        update deliveries delivery
        set leased = true,
            fence = fence + 1,
            due_at = ${now} + ${options.leaseMs} * interval '1 millisecond'
        from picked, destinations destination, delivery_bodies body
        where delivery.id = picked.id
          and destination.resource_id = delivery.destination_id
          and body.delivery_id = delivery.id
        returning
          delivery.id, delivery.fence, delivery.attempt_count + 1 as attempt_number,
          delivery.account_id, delivery.resource_id, delivery.event, delivery.lane_id,
          delivery.traceparent, destination.url, destination.sealed_secret, body.body,
          picked.is_repeat, ${now} as claimed_at,
          extract(epoch from ${now} - coalesce(uuid_extract_timestamp(delivery.event_id), delivery.created_at))::float8
            as event_age_seconds`,
    ),
  );
  return rows.map(toClaimed);
}

function isFull(options: ClaimOptions, lane: string): boolean {
  return (options.inFlight.get(lane) ?? 0) >= options.perLaneMax;
}

type ClaimedRow = {
  id: string;
  fence: number;
  attempt_number: number;
  account_id: string;
  resource_id: string;
  event: EventName;
  lane_id: string;
  traceparent: string | null;
  url: string;
  sealed_secret: string | null;
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
    resourceId: row.resource_id,
    event: row.event,
    laneId: row.lane_id,
    url: row.url,
    sealedSecret: row.sealed_secret,
    body: row.body,
    traceparent: row.traceparent,
    claimedAt: row.claimed_at,
    eventAgeSeconds: row.event_age_seconds,
    isRepeat: row.is_repeat,
  };
}
