import type { Database } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { queueAgain } from '@pixmesh/postgres/unanswered-commands';

import { outcomeEventId } from './outcome-event.ts';

/**
 * Publishes the first outcome of a command once more, for a sender that has not received it. False where there is none
 * to publish: the command was answered by HTTP, or before its event could be found by its id, or the event is queued.
 */
export async function republishOutcome(db: Database, commandId: string): Promise<boolean> {
  const decidedAt = await readDecidedAt(db, commandId);
  if (decidedAt === null) return false;
  return (await queueAgain(db, [outcomeEventId(commandId, decidedAt.getTime())])) > 0;
}

async function readDecidedAt(db: Database, commandId: string): Promise<Date | null> {
  const rows = await db.query<{ created_at: Date }>(
    named('outcome_time', sql`select created_at from journals where command_id = ${commandId}`),
  );
  return rows[0]?.created_at ?? null;
}
