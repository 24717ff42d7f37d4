import { nextCheck } from '@pixmesh/postgres/due-rows';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { PayoutRow } from '#payouts/payout-row.ts';

/**
 * Says when to look at a payout whose call ended without a definite answer. Nothing where the payout has moved
 * since its claim: the answer came too late then.
 */
export async function scheduleLook(db: Queryable, payout: PayoutRow, inMs: number): Promise<void> {
  await db.query(
    named(
      'payout_schedule_look',
      sql`
        update payouts
        set ${nextCheck(inMs)}
        where id = ${payout.id} and version = ${payout.version}`,
    ),
  );
}

/**
 * Remembers a refusal that does not count yet, because an earlier call may still have its effect; the first one
 * stands. Nothing where the payout has moved since its claim.
 */
export async function keepRefusal(
  db: Queryable,
  payout: PayoutRow,
  refusal: { reason: string; lookInMs: number },
): Promise<void> {
  await db.query(
    named(
      'payout_keep_refusal',
      sql`
        update payouts
        set uncounted_refusal = coalesce(uncounted_refusal, ${refusal.reason}),
            version = version + 1,
            ${nextCheck(refusal.lookInMs)}
        where id = ${payout.id} and version = ${payout.version}`,
    ),
  );
}

/**
 * Takes a call that was never sent off the count and says when to look. Nothing where the payout has moved since
 * its claim: a call too many only makes a refusal wait.
 */
export async function uncountCall(
  db: Queryable,
  payout: PayoutRow,
  lookInMs: number,
): Promise<void> {
  await db.query(
    named(
      'payout_uncount_call',
      sql`
        update payouts
        set unanswered_puts = unanswered_puts - 1,
            version = version + 1,
            ${nextCheck(lookInMs)}
        where id = ${payout.id} and version = ${payout.version}`,
    ),
  );
}
