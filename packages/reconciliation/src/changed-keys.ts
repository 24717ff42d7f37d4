import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

const EVENTS_PER_PAGE = 1_000;

/**
 * Keys of a topic's events since an instant, in batches: every change of state has its event, so these are the
 * resources that changed. A key can come again in a later batch.
 */
export async function* changedKeys(
  db: Queryable,
  topic: string,
  since: Date,
): AsyncGenerator<string[]> {
  let after: string | null = null;
  for (;;) {
    const events: { event_id: string; key: string }[] = await readEvents(db, {
      topic,
      since,
      after,
    });
    if (events.length > 0) yield [...new Set(events.map(({ key }) => key))];
    if (events.length < EVENTS_PER_PAGE) return;
    after = events.at(-1)?.event_id ?? null;
  }
}

/** By the primary key of `events`; the time inside the ids leaves older partitions out. */
async function readEvents(
  db: Queryable,
  page: { topic: string; since: Date; after: string | null },
): Promise<{ event_id: string; key: string }[]> {
  return await db.query(
    named(
      'reconciliation_changed_keys',
      sql`
        select event_id, key
        from events
        where topic = ${page.topic}
          and event_id > coalesce(${page.after}::uuid, uuid_v7_floor(${page.since}::timestamptz))
        order by event_id
        limit ${EVENTS_PER_PAGE}`,
    ),
  );
}
