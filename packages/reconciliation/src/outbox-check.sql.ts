import type { Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

/** A resource's own counter of events, and what `events` holds of it. */
export type EventCount = {
  id: string;
  counter: number;
  events: number;
  /** Different numbers among the events. */
  numbers: number;
  last: number;
};

/** Before every id of ours. */
const NIL = '00000000-0000-0000-0000-000000000000';

const COUNTED = sql`select id, event_sequence as counter, events, numbers, last`;

/** Sequence numbers are unique in no index: one that stands in another's place leaves the count as it was. */
function events(topic: string): Statement {
  return sql`
    cross join lateral (
      select
        count(*)::int as events,
        count(distinct sequence)::int as numbers,
        coalesce(max(sequence), 0)::int as last
      from events
      where topic = ${topic} and key = id::text and sequence is not null
    ) as written`;
}

type Resources = { topic: string; counters: Statement };

/** One page of all resources by id, each with its events counted through `events_key`; from one snapshot. */
export async function readEventCounts(
  db: Queryable,
  { topic, counters }: Resources,
  page: { after: string | null; limit: number },
): Promise<EventCount[]> {
  return await db.query(sql`
    ${COUNTED}
    from (
      select id, event_sequence
      from (${counters}) as resource
      where id > coalesce(${page.after}::uuid, ${NIL}::uuid)
      order by id
      limit ${page.limit}
    ) as resource
    ${events(topic)}
    order by id`);
}

/** The same for some resources. */
export async function readEventCountsOf(
  db: Queryable,
  { topic, counters }: Resources,
  ids: readonly string[],
): Promise<EventCount[]> {
  if (ids.length === 0) return [];
  return await db.query(sql`
    ${COUNTED}
    from (
      select id, event_sequence from (${counters}) as resource where id = any(${ids}::uuid[])
    ) as resource
    ${events(topic)}`);
}

/** How many events wait to be published, and since when the oldest does. */
export async function readUnpublished(
  db: Queryable,
): Promise<{ count: number; oldestAt: Date | null }> {
  const [row] = await db.query<{ count: number; oldest_at: Date | null }>(sql`
    select count(*)::int as count, min(uuid_extract_timestamp(event_id)) as oldest_at from outbox`);
  return { count: row?.count ?? 0, oldestAt: row?.oldest_at ?? null };
}
