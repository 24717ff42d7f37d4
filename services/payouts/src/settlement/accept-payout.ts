import type { AcquirerPayout } from '@pixmesh/acquirer/client';
import { nextCheckMs } from '@pixmesh/kernel/check-schedule';

import { payoutEvents } from '#payouts/payout-events.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import type { Transition } from '#payouts/move-payouts.sql.ts';

import type { SettlementDeps } from './settlement-deps.ts';

/**
 * The acquirer has accepted the order: `payment.pix.processing`, once, by the first answer or status check that shows
 * it (decision 127).
 * False when the payout has moved since it was read; nothing is written then.
 */
export async function acceptPayout(
  deps: SettlementDeps,
  payout: PayoutRow,
  sent: AcquirerPayout,
): Promise<boolean> {
  // What has ended already is checked again at once.
  const checkInMs = sent.status === 'processing' ? nextCheckMs(0, deps.acceptedChecks) : 0;
  const change = {
    ...acceptance(payout, sent),
    from: payout,
    status: 'processing',
    checkInMs,
  } as const;
  if (!(await deps.moves.move(change))) return false;
  deps.wakeOutbox();
  return true;
}

/** What acceptance writes and announces, as a part of a larger transition; nothing where it is known already. */
export function acceptance(
  payout: PayoutRow,
  sent: AcquirerPayout,
): Pick<Transition, 'acceptance' | 'events'> {
  if (payout.processedAt !== null) return { events: [] };
  const known = { endToEndId: sent.endToEndId, processedAt: sent.requestedAt };
  const after = { ...payout, ...known, status: 'processing' } as const;
  return { acceptance: known, events: payoutEvents(after, ['payment.pix.processing']) };
}
