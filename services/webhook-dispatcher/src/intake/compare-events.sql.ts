import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** Those of the events that were taken in, also where they wait to be fanned out. Primary key reads. */
export async function findStoredEvents(
  db: Queryable,
  events: readonly { event_id: string; account_id: string }[],
): Promise<Set<string>> {
  const ids = events.map(({ event_id }) => event_id);
  const rows = await db.query<{ event_id: string }>(
    named(
      'events_stored',
      sql`
        select event_id from events where event_id = any (${ids}::uuid[])
        union all
        select event_id
        from unnest(${events.map(({ account_id }) => account_id)}::uuid[], ${ids}::uuid[]) as named (account_id, event_id)
        join set_aside_events using (account_id, event_id)`,
    ),
  );
  return new Set(rows.map((row) => row.event_id));
}

/**
 * Events that the intake parked and an operator dismissed. They are few, each ended by hand. Their headers are read here
 * as a whole: Postgres takes no value out of headers that hold a NUL.
 */
export async function findDismissedEvents(db: Queryable): Promise<Set<string>> {
  const rows = await db.query<{ headers: Record<string, string> }>(
    named(
      'events_dismissed',
      sql`
        select headers
        from dead_letters
        where consumer = ${CONSUMER_GROUPS.dispatcherIntake.groupId} and dismissed_at is not null`,
    ),
  );
  return new Set(rows.flatMap(({ headers }) => headers['event_id'] ?? []));
}

/**
 * Events of the types within the range of ids that are not listed. Test events of endpoints belong to no account and are
 * left out.
 */
export async function findUnlistedEvents(
  db: Queryable,
  range: { after: string; until: string; types: readonly string[] },
  listed: readonly string[],
): Promise<string[]> {
  const rows = await db.query<{ event_id: string }>(
    named(
      'events_unlisted',
      sql`
        select event_id
        from events
        where event_id > ${range.after}::uuid
          and event_id <= ${range.until}::uuid
          and type = any (${range.types}::text[])
          and event_id <> all (${listed}::uuid[])
          and not exists (select from endpoints where endpoints.id = events.resource_id)
        order by event_id`,
    ),
  );
  return rows.map((row) => row.event_id);
}
