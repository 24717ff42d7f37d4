import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { ChosenDelivery } from './choose-deliveries.ts';

export type NewDelivery = ChosenDelivery & { id: string; body: Buffer };

export type NewEvent = {
  eventId: string;
  type: string;
  accountId: string;
  applicationId: string | null;
  resourceId: string;
  source: string;
  sequence: number;
  occurredAt: string;
  traceparent: string | null;
  /** The resource's own URL, kept for its later events even where an endpoint stands for it now. */
  own: { url: string; sealedSecret: string | null } | null;
  deliveries: readonly NewDelivery[];
};

/**
 * Event, the resource's destination, deliveries and bodies in one statement; false when the event is there already.
 * An event's deliveries are chosen once: said again, nothing is added, whatever became of the endpoints meanwhile.
 * The first event of a resource fixes its destination: later ones cannot change it (specification, Delivery
 * mechanisms). Locks nothing but the rows it inserts, by their keys.
 */
export async function insertEvent(db: Queryable, event: NewEvent): Promise<boolean> {
  const { own, deliveries } = event;
  const column = <Key extends keyof NewDelivery>(key: Key): NewDelivery[Key][] =>
    deliveries.map((delivery) => delivery[key]);
  const rows = await db.query<{ id: string }>(
    named(
      'event_insert',
      sql`
        with event as (
          insert into events
            (event_id, type, account_id, application_id, resource_id, source, sequence, occurred_at)
          values (
            ${event.eventId}, ${event.type}, ${event.accountId}, ${event.applicationId},
            ${event.resourceId}, ${event.source}, ${event.sequence}, ${event.occurredAt}
          )
          on conflict (event_id) do nothing
          returning event_id, account_id, resource_id, type
        ),
        destination as (
          insert into destinations (resource_id, account_id, url, sealed_secret)
          select event.resource_id, event.account_id, own.url, own.sealed_secret
          from event, (values (${own?.url ?? null}::text, ${own?.sealedSecret ?? null}::text))
            as own (url, sealed_secret)
          where own.url is not null
          on conflict (resource_id) do nothing
        ),
        chosen as (
          select * from unnest(
            ${column('id')}::uuid[],
            ${column('destinationId')}::uuid[],
            ${column('endpointId')}::uuid[],
            ${column('forResourceUrl')}::boolean[],
            ${column('laneId')}::uuid[],
            ${column('status')}::text[],
            ${column('body')}::bytea[]
          ) as chosen (id, destination_id, endpoint_id, for_resource_url, lane_id, status, body)
        ),
        delivery as (
          insert into deliveries (
            id, event_id, destination_id, endpoint_id, for_resource_url, account_id, resource_id, event,
            lane_id, status, traceparent, next_attempt_at
          )
          select
            chosen.id, event.event_id, chosen.destination_id, chosen.endpoint_id, chosen.for_resource_url,
            event.account_id, event.resource_id, event.type, chosen.lane_id, chosen.status,
            ${event.traceparent}::text, case when chosen.status = 'pending' then now() end
          from event, chosen
          returning id
        )
        insert into delivery_bodies (delivery_id, body)
        select chosen.id, chosen.body
        from chosen
        join delivery on delivery.id = chosen.id
        returning delivery_id as id`,
    ),
  );
  return rows.length > 0;
}
