import { hasDue } from '@pixmesh/postgres/due-rows';
import { HAS_QUEUED } from '@pixmesh/postgres/outbox-queue.sql';
import { sql } from '@pixmesh/postgres/sql';

/** Whether anything is due, by the signal of the job that does it. Each reads one entry of an index, or one row. */
export const DUE_WORK = {
  outbox: HAS_QUEUED,
  /** Payouts of stopped accounts count: leaving them out would mean to pass over each of them here. */
  sender: sql`exists (select from payouts where send_at <= now())`,
  statusChecks: hasDue(sql`payouts`),
  lists: hasDue(sql`acquirer_lists`),
} as const;
