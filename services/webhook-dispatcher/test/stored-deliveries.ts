import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import { bodyOf } from '#deliveries/build-body.ts';

/** A delivery as intake stored it. */
export type IntakeDelivery = {
  id: string;
  /** Null for the resource's own URL. */
  endpoint: string | null;
  status: string;
  forOwn: boolean;
  laneId: string;
  /** Whether an attempt of its schedule is still to be made. */
  isQueued: boolean;
  body: Buffer;
};

/** The deliveries of an event, by id. */
export async function readStoredDeliveries(
  db: Queryable,
  eventId: string,
): Promise<IntakeDelivery[]> {
  const rows = await db.query<IntakeDelivery & { bodyRest: Buffer }>(sql`
    select
      deliveries.id, deliveries.endpoint_id as endpoint, deliveries.status,
      deliveries.for_resource_url as "forOwn", deliveries.lane_id as "laneId",
      exists (select from queue where queue.id = deliveries.id) as "isQueued",
      events.body_rest as "bodyRest"
    from deliveries
    join events on events.event_id = deliveries.event_id
    where deliveries.event_id = ${eventId}
    order by deliveries.id`);
  return rows.map(({ bodyRest, ...row }) => ({ ...row, body: bodyOf(row.id, bodyRest) }));
}
