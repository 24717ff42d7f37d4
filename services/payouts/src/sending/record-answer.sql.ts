import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { nextCheckAt } from '#payouts/check-time.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';

/**
 * Says when to check a payout whose call ended without a definite answer. Nothing where the payout has moved since
 * its claim: the answer came too late then.
 */
export async function scheduleCheck(
  db: Queryable,
  payout: PayoutRow,
  { error, checkInMs }: { error: string | null; checkInMs: number },
): Promise<void> {
  await db.query(
    named(
      'payout_schedule_check',
      sql`
        update payouts
        set last_put_error = ${error}, ${nextCheckAt(checkInMs)}
        where id = ${payout.id} and version = ${payout.version}`,
    ),
  );
}

/**
 * Records a refusal that does not count yet, because an earlier call may still have its effect; the first one
 * stands. Nothing where the payout has moved since its claim.
 */
export async function recordRefusal(
  db: Queryable,
  payout: PayoutRow,
  refusal: { reason: string; checkInMs: number },
): Promise<void> {
  await db.query(
    named(
      'payout_record_refusal',
      sql`
        update payouts
        set uncounted_refusal = coalesce(uncounted_refusal, ${refusal.reason}),
            version = version + 1,
            ${nextCheckAt(refusal.checkInMs)}
        where id = ${payout.id} and version = ${payout.version}`,
    ),
  );
}

/**
 * Takes a call that was not made off the count, sets the times of the calls back, and says when to check: a payout
 * whose every call was not made was never sent. Nothing where the payout has moved since its claim: a call too many
 * only makes a refusal wait.
 */
export async function uncountCall(
  db: Queryable,
  payout: PayoutRow,
  former: { lastCallAt: Date | null; error: string | null; checkInMs: number },
): Promise<void> {
  await db.query(
    named(
      'payout_uncount_call',
      sql`
        update payouts
        set unanswered_puts = unanswered_puts - 1,
            first_put_at = case when unanswered_puts > 1 then first_put_at end,
            last_put_at = ${former.lastCallAt},
            last_put_error = coalesce(${former.error}, last_put_error),
            version = version + 1,
            ${nextCheckAt(former.checkInMs)}
        where id = ${payout.id} and version = ${payout.version}`,
    ),
  );
}
