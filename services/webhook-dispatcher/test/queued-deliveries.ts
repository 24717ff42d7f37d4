import { randomBytes } from 'node:crypto';

import { newId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

export type QueuedDelivery = {
  endpointId: string;
  status?: string;
  /** From now on; null for one that has no place in the queue. */
  dueInMs?: number | null;
  rank?: number;
  /** Whether it stands for the URL of its resource too, so in a lane of its own. */
  forResourceUrl?: boolean;
  isResend?: boolean;
};

/** A delivery to an endpoint as intake and senders leave it; answers its id. */
export async function queueDelivery(db: Queryable, given: QueuedDelivery): Promise<string> {
  const { endpointId, status = 'pending', dueInMs = 60_000, rank = 0 } = given;
  const { forResourceUrl = false, isResend = false } = given;
  const [id, resourceId, eventId] = [newId(), newId(), newId()];
  const lane = forResourceUrl ? resourceId : endpointId;
  await db.query(sql`
    insert into deliveries (
      id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id, status, for_resource_url
    )
    values (
      ${id}, ${eventId}, ${endpointId}, ${newId()}, ${resourceId}, 'charge.pix.paid', ${lane}, ${endpointId},
      ${status}, ${forResourceUrl}
    )`);
  if (dueInMs === null) return id;
  await db.query(sql`
    insert into queue (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url, rank, is_resend, due_at)
    values (
      ${isResend ? newId() : id}, ${id}, ${eventId}, ${lane}, ${endpointId}, ${forResourceUrl}, ${rank}, ${isResend},
      now() + ${dueInMs}::float8 * interval '1 millisecond'
    )`);
  return id;
}

/** That many of one endpoint at once, each due differently. */
export async function queueMany(
  db: Queryable,
  { endpointId, count }: { endpointId: string; count: number },
): Promise<void> {
  const ids = Array.from({ length: count }, () => newId());
  await db.query(sql`
    with made as (
      select id, place from unnest(${ids}::uuid[]) with ordinality as made (id, place)
    ),
    stored as (
      insert into deliveries (id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id)
      select id, id, ${endpointId}, ${newId()}, gen_random_uuid(), 'charge.pix.paid', ${endpointId}, ${endpointId}
      from made
    )
    insert into queue (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url, rank, due_at)
    select id, id, id, ${endpointId}, ${endpointId}, false, place % 3, now() + place * interval '1 second'
    from made`);
}

/** An id of the given moment, as others of it would be. */
export function idAt(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  const rest = randomBytes(10).toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(1, 4)}-8${rest.slice(5, 8)}-${rest.slice(8)}`;
}

export async function statusesOf(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ id: string; status: string }>(
    sql`select id, status from deliveries where id = any (${ids}::uuid[])`,
  );
  return ids.map((id) => rows.find((row) => row.id === id)?.status ?? 'none');
}

/** What waits in a lane and when it may be taken; `wakes` is `never` for a lane that sleeps. */
export async function readLane(
  db: Queryable,
  id: string,
): Promise<{ waiting: number; leased: boolean; wakes: 'now' | 'later' | 'never' } | null> {
  const [row] = await db.query<{
    waiting: number;
    leased: boolean;
    wakes: 'now' | 'later' | 'never';
  }>(sql`
    select
      (select count(*)::int from queue where lane_id = lanes.id) as waiting, leased,
      case when claimable_at = 'infinity' then 'never' when claimable_at <= now() + interval '1 millisecond' then 'now' else 'later' end as wakes
    from lanes where id = ${id}`);
  return row ?? null;
}
