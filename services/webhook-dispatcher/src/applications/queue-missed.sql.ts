import type { EndpointId } from '@pixmesh/kernel/ids';
import type { Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { smallestIdOf } from '#deliveries/id-of-instant.ts';
import { wasActiveAt, wasRegisteredAt } from '#endpoints/was-active-at.sql.ts';

/** An event's id may be minted this much before the time of the event. */
const ID_AHEAD_MS_MAX = 60_000;

export type MissedPage = {
  endpointId: EndpointId;
  /** Events from then on were missed wrongly, if they were skipped. */
  since: Date;
  /** Behind which delivery the page begins. */
  after: string;
  limit: number;
};

type QueuedPage = { last: string | null; readCount: number; queuedCount: number };

/** Smaller than the id of every delivery of an event since then. */
export function firstMissedId(since: Date): string {
  return smallestIdOf(since.getTime() - ID_AHEAD_MS_MAX);
}

/**
 * Makes pending what was skipped on one page of an endpoint's deliveries although the endpoint was active by what is
 * recorded now. Not what the resource's own URL received under the same text: that was sent at the time (decision 179).
 * To be called behind `lockLanesToQueue`, under which the endpoint does not change. A range of `deliveries_endpoint`,
 * then every other row by its key; the bound on the last id leaves other weeks out. Locked deliveries are skipped: a
 * re-send is just ending them.
 */
export async function queueMissedPage(tx: Transaction, page: MissedPage): Promise<QueuedPage> {
  const [row] = await tx.query<QueuedPage>(queueMissedStatement(page));
  return row ?? { last: null, readCount: 0, queuedCount: 0 };
}

export function queueMissedStatement({ endpointId, since, after, limit }: MissedPage): Statement {
  return named(
    'deliveries_queue_missed',
    sql`
      with page as materialized (
        select id, event_id, resource_id, status
        from deliveries
        where endpoint_id = ${endpointId} and id > ${after}
        order by id
        limit ${limit}
      ),
      missed as (
        select page.id
        from page
        cross join lateral (
          select occurred_at, type from events where events.event_id = page.event_id offset 0
        ) event
        cross join lateral (
          select active, paused_at, application_inactive_since, deleted_at, url, created_at, events_added_at
          from endpoints
          where id = ${endpointId}
          offset 0
        ) endpoints
        where page.status = 'skipped'
          and event.occurred_at >= ${since}::timestamptz
          and endpoints.deleted_at is null
          and ${wasActiveAt(sql`event.occurred_at`)}
          and ${wasRegisteredAt(sql`event.occurred_at`, sql`event.type`)}
          and endpoints.url is distinct from (
            select url from destinations where destinations.resource_id = page.resource_id
          )
      ),
      picked as (
        select id
        from deliveries
        where id = any (array(select id from missed))
          and id > ${after}
          and id <= (select id from page order by id desc limit 1)
          and status = 'skipped'
        order by id
        for no key update skip locked
      ),
      moved as (
        update deliveries
        set status = 'pending'
        where id = any (array(select id from picked))
          and id > ${after}
          and id <= (select id from page order by id desc limit 1)
        returning id, event_id
      ),
      queued as (
        insert into queue (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url)
        select id, id, event_id, ${endpointId}::uuid, ${endpointId}::uuid, false
        from moved
        returning id
      )
      select id as last, (select count(*) from page)::int as "readCount",
        (select count(*) from queued)::int as "queuedCount"
      from page
      order by id desc
      limit 1`,
  );
}
