import { NIL_ID } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { DeliveredEvent } from '#deliveries/event-parts.ts';
import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

import type { ChosenDelivery } from './choose-deliveries.ts';
import { startsOf } from './starts-of.ts';

export type NewEvent = {
  eventId: string;
  type: DeliveredEvent;
  accountId: string;
  applicationId: string | null;
  resourceId: string;
  source: string;
  sequence: number;
  occurredAt: string;
  traceparent: string | null;
  /** The resource's own URL, stored for its later events even where an endpoint stands for it now. */
  own: { url: string; sealedSecret: string | null } | null;
  bodyRest: Buffer;
  deliveries: readonly NewDelivery[];
};

export type NewDelivery = ChosenDelivery & { id: string };

/** An event that was not there already. */
export type AddedEvent = {
  eventId: string;
  /** Database time at which it was stored, in milliseconds since 1970. */
  storedAtMs: number;
  /** Since it happened. */
  ageSeconds: number;
  /** The stored destination of its resource; null where there is none, or another transaction is storing it. */
  own: { url: string; sealedSecret: string | null } | null;
};

/**
 * Events, destinations, deliveries and what is to be sent, in one statement; answers the events that were not there
 * already. An event's deliveries are chosen once: a repetition adds nothing, whatever became of the endpoints
 * meanwhile. The first event of a resource fixes its destination: later ones cannot change it (specification,
 * Delivery mechanisms). Rows are inserted in the order of their keys, so that two who store the same events wait for
 * each other in one direction only. No event may be named twice.
 *
 * The bodies go as one value and are cut apart again: an array of them would have to be written as text, twice as long.
 */
export async function insertEvents(
  tx: Queryable,
  clock: ScheduleClock,
  events: readonly NewEvent[],
): Promise<AddedEvent[]> {
  const rows = await tx.query<AddedRow>(
    named(
      'events_insert',
      sql`
        with named as (
          ${eventRows(events)}
        ),
        ${insertedRows(clock, events)}
        ${addedRows(clock)}`,
    ),
  );
  return rows.map(toAdded);
}

/** What is stored at once, and what has to hold for it. */
export type AtOnce = {
  events: readonly NewEvent[];
  /** Every lane that an event may be in, whichever of its deliveries it makes: a sender owns each. */
  laneIds: readonly string[];
  /** The endpoints that receive them: each has this version still. */
  endpoints: readonly { id: string; version: string }[];
};

/**
 * The same without a transaction around it, where a sender owns every lane, so that none has to be made or woken, and
 * no endpoint has changed since it was read. The locks of lanes, then of endpoints, are taken before anything is
 * inserted, and last until it is committed (`lockLanesToQueue`). Null where nothing was stored, because something of it
 * does not hold.
 *
 * Endpoints are locked for share: a key share lock passes over a change that leaves the key of a row as it is, and
 * would answer the version from before it.
 */
export async function insertEventsAtOnce(
  db: Queryable,
  clock: ScheduleClock,
  { events, laneIds, endpoints }: AtOnce,
): Promise<AddedEvent[] | null> {
  const rows = await db.query<{ holds: boolean } & (AddedRow | { eventId: null })>(
    named(
      'events_insert_at_once',
      sql`
        with lane as materialized (
          select id
          from lanes
          where id = any (${laneIds}::uuid[]) and leased and account_id <> ${NIL_ID}
          order by id
          for key share
        ),
        owned as materialized (select count(*) = ${laneIds.length} as all_are from lane),
        endpoint as materialized (
          select id, xmin::text as version
          from endpoints
          where id = any (${endpoints.map(({ id }) => id)}::uuid[]) and (select all_are from owned)
          order by id
          for share
        ),
        premises as materialized (
          select all_are and same.count = ${endpoints.length} as holds
          from owned, (
            select count(*)
            from endpoint
            join unnest(
              ${endpoints.map(({ id }) => id)}::uuid[], ${endpoints.map(({ version }) => version)}::text[]
            ) as seen (id, version) using (id, version)
          ) as same
        ),
        named as (
          ${eventRows(events)}
          where (select holds from premises)
        ),
        ${insertedRows(clock, events)}
        select holds, added.*
        from premises
        left join (${addedRows(clock)}) as added on true`,
    ),
  );
  if (!rows.every(({ holds }) => holds)) return null;
  return rows.flatMap((row) => (row.eventId === null ? [] : [toAdded(row)]));
}

type AddedRow = Omit<AddedEvent, 'own'> & { url: string | null; sealedSecret: string | null };

function toAdded({ eventId, storedAtMs, ageSeconds, url, sealedSecret }: AddedRow): AddedEvent {
  const own = url === null ? null : { url, sealedSecret };
  return { eventId, storedAtMs, ageSeconds, own };
}

/** What `insertedRows` added. A destination that this very statement stores is not to be seen in its table yet. */
function addedRows(clock: ScheduleClock): Statement {
  const storedAt = sql`(${scheduleNow(clock)} + (clock_timestamp() - now()))`;
  return sql`
    select
      event.event_id as "eventId", coalesce(destination.url, known.url) as url,
      coalesce(destination.sealed_secret, known.sealed_secret) as "sealedSecret",
      (extract(epoch from ${storedAt}) * 1000)::float8 as "storedAtMs",
      extract(epoch from ${storedAt} - coalesce(uuid_extract_timestamp(event.event_id), event.occurred_at))::float8
        as "ageSeconds"
    from event
    left join destination on destination.resource_id = event.resource_id
    left join lateral (
      select url, sealed_secret from destinations where destinations.resource_id = event.resource_id offset 0
    ) known on true`;
}

/** CTEs behind `named`; `event`: those that were not there already. */
function insertedRows(clock: ScheduleClock, events: readonly NewEvent[]): Statement {
  return sql`event as (
          insert into events (
            event_id, type, account_id, application_id, resource_id, source, sequence, occurred_at, traceparent,
            body_rest
          )
          select
            event_id, type, account_id, application_id, resource_id, source, sequence, occurred_at, traceparent,
            substring(${Buffer.concat(events.map(({ bodyRest }) => bodyRest))}::bytea from body_start for body_length)
          from named
          order by event_id
          on conflict (event_id) do nothing
          returning event_id, account_id, resource_id, type, occurred_at
        ),
        destination as (
          insert into destinations (resource_id, account_id, url, sealed_secret)
          select distinct on (named.resource_id)
            named.resource_id, named.account_id, named.url, named.sealed_secret
          from named
          join event on event.event_id = named.event_id
          where named.url is not null
          order by named.resource_id, named.sequence
          on conflict (resource_id) do nothing
          returning resource_id, url, sealed_secret
        ),
        chosen as (
          select chosen.*, event.account_id, event.resource_id, event.type
          from ${deliveryRows(events)}
          join event on event.event_id = chosen.event_id
        ),
        delivery as (
          insert into deliveries (
            id, event_id, destination_id, account_id, resource_id, event, lane_id, status, endpoint_id,
            for_resource_url
          )
          select
            id, event_id, destination_id, account_id, resource_id, type, lane_id, status, endpoint_id,
            for_resource_url
          from chosen
        ),
        queued as (
          insert into queue (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url, due_at)
          select id, id, event_id, lane_id, endpoint_id, for_resource_url, ${scheduleNow(clock)}
          from chosen
          where status = 'pending'
        )`;
}

/** As rows `named`, each with where its body stands among all. */
function eventRows(events: readonly NewEvent[]): Statement {
  const lengths = events.map(({ bodyRest }) => bodyRest.length);
  return sql`
    select * from unnest(
      ${events.map(({ eventId }) => eventId)}::uuid[],
      ${events.map(({ type }) => type)}::text[],
      ${events.map(({ accountId }) => accountId)}::uuid[],
      ${events.map(({ applicationId }) => applicationId)}::uuid[],
      ${events.map(({ resourceId }) => resourceId)}::uuid[],
      ${events.map(({ source }) => source)}::text[],
      ${events.map(({ sequence }) => sequence)}::integer[],
      ${events.map(({ occurredAt }) => occurredAt)}::timestamptz[],
      ${events.map(({ traceparent }) => traceparent)}::text[],
      ${events.map(({ own }) => own?.url ?? null)}::text[],
      ${events.map(({ own }) => own?.sealedSecret ?? null)}::text[],
      ${startsOf(lengths)}::integer[],
      ${lengths}::integer[]
    ) as named (
      event_id, type, account_id, application_id, resource_id, source, sequence, occurred_at, traceparent,
      url, sealed_secret, body_start, body_length
    )`;
}

/** As rows `chosen`. */
function deliveryRows(events: readonly NewEvent[]): Statement {
  const deliveries = events.flatMap((event) =>
    event.deliveries.map((delivery) => ({ ...delivery, eventId: event.eventId })),
  );
  return sql`
    unnest(
      ${deliveries.map(({ id }) => id)}::uuid[],
      ${deliveries.map(({ eventId }) => eventId)}::uuid[],
      ${deliveries.map(({ destinationId }) => destinationId)}::uuid[],
      ${deliveries.map(({ endpointId }) => endpointId)}::uuid[],
      ${deliveries.map(({ forResourceUrl }) => forResourceUrl)}::boolean[],
      ${deliveries.map(({ laneId }) => laneId)}::uuid[],
      ${deliveries.map(({ status }) => status)}::text[]
    ) as chosen (id, event_id, destination_id, endpoint_id, for_resource_url, lane_id, status)`;
}
