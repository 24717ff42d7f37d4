import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

export type NewEvent = {
  eventId: string;
  type: string;
  accountId: string;
  applicationId: string | null;
  resourceId: string;
  source: string;
  sequence: number;
  occurredAt: string;
  destination: { url: string; sealedSecret: string | null };
  delivery: { id: string; laneId: string; traceparent: string | null; body: Buffer };
};

/**
 * Event, destination, delivery and body in one statement; false when the delivery is there already. The
 * first event of a resource fixes its destination: later ones cannot change it (specification, Delivery
 * mechanisms). Locks nothing but the rows it inserts, by their keys.
 */
export async function insertEvent(db: Queryable, event: NewEvent): Promise<boolean> {
  const { destination, delivery } = event;
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
        ),
        destination as (
          insert into destinations (resource_id, account_id, url, sealed_secret)
          values (
            ${event.resourceId}, ${event.accountId}, ${destination.url}, ${destination.sealedSecret}
          )
          on conflict (resource_id) do nothing
        ),
        delivery as (
          insert into deliveries (
            id, event_id, destination_id, account_id, resource_id, event, lane_id, traceparent,
            next_attempt_at
          )
          values (
            ${delivery.id}, ${event.eventId}, ${event.resourceId}, ${event.accountId},
            ${event.resourceId}, ${event.type}, ${delivery.laneId}, ${delivery.traceparent}, now()
          )
          on conflict on constraint deliveries_event_destination do nothing
          returning id
        )
        insert into delivery_bodies (delivery_id, body)
        select id, ${delivery.body}::bytea from delivery
        returning delivery_id as id`,
    ),
  );
  return rows.length === 1;
}
