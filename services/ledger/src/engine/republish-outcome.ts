import type { Database } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { outcomeEventId } from './outcome-event.ts';

/**
 * Publishes the first outcome of a command once more, for a sender that has not heard it. False where there is none to
 * publish: the command was answered by HTTP, or before its event could be found by its id.
 */
export async function republishOutcome(db: Database, commandId: string): Promise<boolean> {
  const decidedAt = await readDecidedAt(db, commandId);
  if (decidedAt === null) return false;
  const rows = await db.query(
    named(
      'outcome_republish',
      sql`
        insert into outbox (event_id)
        select event_id from events where event_id = ${outcomeEventId(commandId, decidedAt.getTime())}
        returning event_id`,
    ),
  );
  return rows.length > 0;
}

async function readDecidedAt(db: Database, commandId: string): Promise<Date | null> {
  const rows = await db.query<{ created_at: Date }>(
    named('outcome_time', sql`select created_at from journals where command_id = ${commandId}`),
  );
  return rows[0]?.created_at ?? null;
}
