import {
  COMPARED_EVENTS_MAX,
  type ComparedEvent,
} from '@pixmesh/contracts/internal/compare-events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/**
 * Events of a topic with ids above `after`, up to `until`: all of them that were written, but those that were
 * dismissed.
 */
export type EventsPage = { after: string; until: string; events: ComparedEvent[] };

/**
 * The page begins with the later of the two. The last page ends with the time of its reading, so that what the other
 * side has beyond is not asked for. The consumer of parked events is written out: `dead_letters_outbox` has it as its
 * condition, which no parameter can prove.
 */
export async function readEventsPage(
  db: Queryable,
  topic: string,
  from: { after: string; since: Date },
): Promise<EventsPage> {
  const [range] = await db.query<{ after: string; until: string }>(
    named(
      'delivery_check_range',
      sql`
        select
          greatest(${from.after}::uuid, uuid_v7_floor(${from.since}::timestamptz)) as after,
          uuid_v7_floor(clock_timestamp()) as until`,
    ),
  );
  const { after, until } = range!;
  const events = await db.query<ComparedEvent>(
    named(
      'delivery_check_events',
      sql`
        select
          event_id, type, message->>'account_id' as account_id,
          message->>'application_id' as application_id, message->>'occurred_at' as occurred_at,
          json_typeof(message->'destination') = 'object' as has_url
        from events
        where topic = ${topic} and event_id > ${after}::uuid and event_id <= ${until}::uuid
          and not exists (
            select from dead_letters letter
            where letter.consumer = 'outbox' and letter.replayed_at is null and letter.dismissed_at is not null
              and letter.topic = events.topic and letter.key = events.key
              and letter.headers->>'event_id' = events.event_id::text
          )
        order by event_id
        limit ${COMPARED_EVENTS_MAX}`,
    ),
  );
  const isLast = events.length < COMPARED_EVENTS_MAX;
  return { after, until: isLast ? until : events.at(-1)!.event_id, events };
}
