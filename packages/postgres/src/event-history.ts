import { timeOfId } from '@pixmesh/kernel/ids';

import type { Queryable } from './pool.ts';
import { named, sql, type Statement } from './sql.ts';

/** Clocks of processes and of the database may differ by so much at the very most. */
const CLOCK_SKEW_MS = 24 * 60 * 60 * 1000;

/** A numbered event of a resource that was appended once, without its message. */
export type PastEvent = {
  id: string;
  type: string;
  sequence: number;
  /** When it was made: the time inside its id. */
  at: Date;
  /** What its snapshot is of, and the status there. */
  resourceId: string | null;
  status: string | null;
};

/** `since`: nothing of this key is older, so that older partitions are not read. */
export type PastEventsOf = { topic: string; key: string; since: Date; limit: number };

/** The first numbered events of one key of a topic, in the order of their numbers. */
export async function readEventHistory(db: Queryable, asked: PastEventsOf): Promise<PastEvent[]> {
  const rows = await db.query<Omit<PastEvent, 'at'>>(eventHistoryStatement(asked));
  return rows.map((row) => ({ ...row, at: timeOfId(row.id) }));
}

/** The statement, apart so that tests can read its plan. Reads `events_numbered` of each partition since. */
export function eventHistoryStatement({ topic, key, since, limit }: PastEventsOf): Statement {
  const from = new Date(since.getTime() - CLOCK_SKEW_MS);
  return named(
    'event_history',
    sql`
      select
        event_id as id, type, sequence, message->'data'->>'id' as "resourceId",
        message->'data'->>'status' as status
      from events
      where topic = ${topic} and key = ${key} and sequence is not null
        and event_id >= uuid_v7_floor(${from}::timestamptz)
      order by sequence
      limit ${limit}`,
  );
}
