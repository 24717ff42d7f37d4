import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { PayoutRow } from '#payouts/payout-row.ts';

/**
 * Drops an intent whose hold was refused or voided, so that its key is free again. False when another process has
 * dropped it, and perhaps begun anew under another hold.
 */
export async function deleteIntent(db: Queryable, intent: PayoutRow): Promise<boolean> {
  const rows = await db.query(
    named(
      'intent_delete',
      sql`
        delete from payouts
        where id = ${intent.id} and hold_id = ${intent.holdId} and status = 'intent'
        returning id`,
    ),
  );
  return rows.length === 1;
}
