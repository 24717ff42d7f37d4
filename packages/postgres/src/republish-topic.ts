import { IS_PARKED } from './outbox-queue.sql.ts';
import type { Queryable } from './pool.ts';
import { sql } from './sql.ts';

/** Events that one statement queues. */
const EVENTS_PER_STATEMENT = 5_000;

/** `from`: events made since; `key`: only those of this key. */
export type Republication = { topic: string; from: Date; key: string | null };

/**
 * Queues the events of a topic once more, in their order, so that the topic is rebuilt from `events`, without those
 * that are parked. A consumer that reads them a second time does nothing. Answers how many.
 */
export async function republishTopic(db: Queryable, asked: Republication): Promise<number> {
  let count = 0;
  for (let after: string | null = null; ;) {
    const queued: { event_id: string }[] = await queuePage(db, asked, after);
    count += queued.length;
    if (queued.length < EVENTS_PER_STATEMENT) return count;
    after = queued.at(-1)?.event_id ?? null;
  }
}

/** By the primary key of `events`: the time inside the ids leaves older partitions out. */
async function queuePage(
  db: Queryable,
  { topic, from, key }: Republication,
  after: string | null,
): Promise<{ event_id: string }[]> {
  return await db.query(sql`
    with page as materialized (
      select event_id
      from events
      where topic = ${topic}
        and event_id > coalesce(${after}::uuid, uuid_v7_floor(${from}::timestamptz))
        and (${key}::text is null or key = ${key})
        and not ${IS_PARKED}
      order by event_id
      limit ${EVENTS_PER_STATEMENT}
    ),
    queued as (
      insert into outbox (event_id) select event_id from page order by event_id
    )
    select event_id from page order by event_id`);
}
