import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/** How many attempts are due. */
export async function dueIn(db: Database, clock: ScheduleClock): Promise<number> {
  const rows = await db.query(sql`select id from queue where due_at <= ${scheduleNow(clock)}`);
  return rows.length;
}

/** Leaves nothing to send behind for the next test, and no lane that a sender would claim, once senders have stopped. */
export async function emptyQueue(db: Database): Promise<void> {
  await db.query(sql`delete from queue`);
  await db.query(sql`
    update lanes set leased = false, waiting = false, claimable_at = 'infinity'
    where claimable_at < 'infinity'`);
}
