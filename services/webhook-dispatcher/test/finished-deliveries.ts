import { randomUUID } from 'node:crypto';

import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import { deliveryIdOf } from '#deliveries/delivery-id-of.ts';

import { HOOK_URL } from './a-resource-envelope.ts';
import { idAt } from './queued-deliveries.ts';

type Finished = {
  accountId: string;
  count: number;
  /** Null for URLs of resources, each of which has its own. */
  endpointId?: string | null;
  /** Of the event. */
  applicationId?: string | null;
  status?: string;
  event?: string;
  /** When the events happened; now where it is absent. */
  at?: Date;
};

/** Deliveries that are over, as senders leave them, each of an event and a resource of its own. Answers their ids. */
export async function storeFinished(db: Queryable, missed: Finished): Promise<string[]> {
  const { accountId, count, endpointId = null, applicationId = null, at = new Date() } = missed;
  const { status = 'failed', event = 'charge.pix.created' } = missed;
  const made = Array.from({ length: count }, () => {
    const [eventId, resourceId] = [idAt(at.getTime()), randomUUID()];
    return { eventId, resourceId, id: deliveryIdOf(eventId, endpointId ?? resourceId) };
  });
  const body = JSON.stringify({ object: 'event', event }).slice(1);
  await db.query(sql`
    with made as (
      select * from unnest(
        ${made.map(({ id }) => id)}::uuid[], ${made.map(({ eventId }) => eventId)}::uuid[],
        ${made.map(({ resourceId }) => resourceId)}::uuid[]
      ) as made (id, event_id, resource_id)
    ),
    event as (
      insert into events (
        event_id, type, account_id, application_id, resource_id, source, sequence, occurred_at, body_rest
      )
      select
        event_id, ${event}, ${accountId}, ${applicationId}::uuid, resource_id, 'api', 1, ${at},
        convert_to(${`,${body}`}, 'utf8')
      from made
    ),
    destination as (
      insert into destinations (resource_id, account_id, url)
      select resource_id, ${accountId}, ${HOOK_URL}
      from made
      where ${endpointId}::uuid is null
    )
    insert into deliveries (
      id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id, status
    )
    select
      id, event_id, coalesce(${endpointId}::uuid, resource_id), ${accountId}, resource_id, ${event},
      coalesce(${endpointId}::uuid, ${accountId}::uuid), ${endpointId}::uuid, ${status}
    from made`);
  return made.map(({ id }) => id);
}
