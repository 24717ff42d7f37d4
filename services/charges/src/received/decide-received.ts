import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';

import type { ChargeRow } from '#charge/charge-row.ts';

type SuspenseReason = 'amount_mismatch' | 'second_pix' | 'late' | 'charge_closed';

export type Disposition = { kind: 'credit' } | { kind: 'suspense'; reason: SuspenseReason };

/** Statuses in which no Pix pays a charge. */
const CLOSED: ReadonlySet<ChargeRow['status']> = new Set(['canceled', 'failed']);

/**
 * What becomes of a Pix that the acquirer received for a charge (decisions 69–73): it pays the charge, or it
 * waits in suspense for an operator. Money is never dropped, and a wrong amount never pays.
 */
export function decideReceived(charge: ChargeRow, pix: ReceivedPix): Disposition {
  if (CLOSED.has(charge.status)) return suspense('charge_closed');
  if (charge.acceptedE2e !== null) return suspense('second_pix');
  if (pix.amountCents !== charge.amount) return suspense('amount_mismatch');
  const isLate = pix.paidAt.getTime() > charge.expiresAt.getTime();
  if (isLate && charge.latePaymentPolicy === 'suspense') return suspense('late');
  return { kind: 'credit' };
}

function suspense(reason: SuspenseReason): Disposition {
  return { kind: 'suspense', reason };
}
