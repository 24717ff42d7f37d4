import { hasDue } from '@pixmesh/postgres/due-rows';
import { HAS_QUEUED } from '@pixmesh/postgres/outbox-queue.sql';
import { sql } from '@pixmesh/postgres/sql';

/** Whether anything is due, by the signal of the job that does it. Each reads one entry of an index, or one row. */
export const DUE_WORK = {
  outbox: HAS_QUEUED,
  statusChecks: hasDue(sql`charges`),
  notices: hasDue(sql`pix_notices`),
  itemReturns: hasDue(sql`suspense_resolutions`),
  refunds: hasDue(sql`refunds`),
  lists: hasDue(sql`acquirer_lists`),
  disputeList: hasDue(sql`dispute_list`),
} as const;
