import type { AcquirerPayout } from '@pixmesh/acquirer/acquirer';
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

/**
 * What acceptance writes and announces, as a part of a larger transition. Where it is known already, nothing is announced
 * and its time stays; the end-to-end id is the one that the acquirer shows now, and no event has shown another: it is
 * promised for the end only (decision 121).
 */
export function acceptance(
  payout: PayoutRow,
  sent: AcquirerPayout,
): Pick<Transition, 'acceptance' | 'events'> {
  const { endToEndId } = sent;
  const { processedAt } = payout;
  if (processedAt !== null) return { acceptance: { endToEndId, processedAt }, events: [] };
  const known = { endToEndId, processedAt: sent.requestedAt };
  const after = { ...payout, ...known, status: 'processing' } as const;
  return { acceptance: known, events: payoutEvents(after, ['payment.pix.processing']) };
}
