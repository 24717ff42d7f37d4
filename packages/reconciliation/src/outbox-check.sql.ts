import { NIL_ID } from '@pixmesh/kernel/ids';
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

/** A command whose outcome has not come back. */
export type UnansweredCommand = { commandId: string; type: string; writtenAt: Date };

/** Commands that one run names. With more, what answers them is down. */
const UNANSWERED_MAX = 1_001;

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

export type NumberedResources = {
  /** Topic of the resource's events. */
  topic: string;
  /** All resources, as `select id, event_sequence from …`: how many events each has had. */
  counters: Statement;
};

/** One page of all resources by id, each with its events counted through `events_numbered`; from one snapshot. */
export async function readEventCounts(
  db: Queryable,
  { topic, counters }: NumberedResources,
  page: { after: string | null; limit: number },
): Promise<EventCount[]> {
  return await db.query(sql`
    ${COUNTED}
    from (
      select id, event_sequence
      from (${counters}) as resource
      where id > ${page.after ?? NIL_ID}::uuid
      order by id
      limit ${page.limit}
    ) as resource
    ${events(topic)}
    order by id`);
}

/** The same for some resources. */
export async function readEventCountsOf(
  db: Queryable,
  { topic, counters }: NumberedResources,
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

/** The events that wait to be published, where any do. */
export type Unpublished = { count: number; oldestId: string; oldestAt: Date };

/** How many events wait to be published, and which one has waited longest; null where none does. */
export async function readUnpublished(db: Queryable): Promise<Unpublished | null> {
  const [row] = await db.query<Unpublished>(sql`
    select
      (select count(*)::int from outbox) as count,
      event_id as "oldestId", uuid_extract_timestamp(event_id) as "oldestAt"
    from outbox
    order by event_id
    limit 1`);
  return row ?? null;
}

/** Commands without an outcome, the oldest first. */
export async function readUnanswered(db: Queryable): Promise<UnansweredCommand[]> {
  return await db.query(sql`
    select
      command_id as "commandId", events.type,
      uuid_extract_timestamp(unanswered_commands.event_id) as "writtenAt"
    from unanswered_commands
    join events on events.event_id = unanswered_commands.event_id
    order by unanswered_commands.event_id
    limit ${UNANSWERED_MAX}`);
}
