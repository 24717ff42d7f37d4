import type { AcquirerPayout } from '@pixmesh/acquirer/client';
import { nextCheckMs } from '@pixmesh/kernel/check-schedule';
import { sql, type Statement } from '@pixmesh/postgres/sql';

import { payoutEvents } from '#payouts/payout-events.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import { movePayout } from '#payouts/payouts.sql.ts';

import type { SettlementDeps } from './settlement-deps.ts';

/**
 * The acquirer has taken the order: `payment.pix.processing`, once, whoever learns of it first (decision 127).
 * False when the payout has moved since it was read; nothing is written then.
 */
export async function acceptPayout(
  deps: SettlementDeps,
  payout: PayoutRow,
  sent: AcquirerPayout,
): Promise<boolean> {
  const { set, events } = acceptance(payout, sent);
  // What has ended already is looked at again at once.
  const checkInMs = sent.status === 'processing' ? nextCheckMs(0, deps.acceptedChecks) : 0;
  const change = { from: payout, status: 'processing', set, events, checkInMs } as const;
  if (!(await movePayout(deps.db, change))) return false;
  deps.kickOutbox();
  return true;
}

/** What acceptance writes and announces, as a part of a larger transition; nothing where it is known already. */
export function acceptance(payout: PayoutRow, sent: AcquirerPayout) {
  const set: Statement[] = [sql`send_at = null`];
  if (payout.processedAt !== null) return { set, events: [] };
  const after = {
    ...payout,
    status: 'processing',
    endToEndId: sent.endToEndId,
    processedAt: sent.requestedAt,
  } as const;
  set.push(
    sql`end_to_end_id = ${sent.endToEndId}`,
    sql`processed_at = ${sent.requestedAt}`,
    // Every call of one idEnvio is answered by it.
    sql`unanswered_puts = 0`,
    sql`uncounted_refusal = null`,
  );
  return { set, events: payoutEvents(after, ['payment.pix.processing']) };
}
