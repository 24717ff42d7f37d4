import type { AcquirerCharge, ReceivedPix } from '@pixmesh/acquirer/acquirer';

import type { ChargeRow } from '#charge/charge-row.ts';

type SuspenseReason = 'amount_mismatch' | 'second_pix' | 'late' | 'charge_closed';

export type Disposition = { kind: 'credit' } | { kind: 'suspense'; reason: SuspenseReason };

/** The acquirer's own charge, as far as it says until when it can be paid. */
export type AcquirerTimes = Partial<Pick<AcquirerCharge, 'createdAt' | 'expiresInSeconds'>>;

/** So far behind ours the end of the acquirer's charge counts: its call may go out late, and clocks differ. */
const END_LATER_MS_MAX = 15 * 60_000;

/** Statuses in which no Pix pays a charge. */
const CLOSED: ReadonlySet<ChargeRow['status']> = new Set(['canceled', 'failed']);

/**
 * What becomes of a Pix that the acquirer received for a charge (decisions 69–73): it pays the charge, or it
 * waits in suspense for an operator. Money is never dropped, and a wrong amount never pays. A payer who pays a code that
 * the acquirer still takes is not late. `times` is empty where only the Pix is known.
 */
export function decideReceived(
  charge: ChargeRow,
  pix: ReceivedPix,
  times: AcquirerTimes = {},
): Disposition {
  if (CLOSED.has(charge.status)) return suspense('charge_closed');
  if (charge.acceptedE2e !== null) return suspense('second_pix');
  if (pix.amountCents !== charge.amount) return suspense('amount_mismatch');
  const isLate = pix.paidAt.getTime() > endMsOf(charge, times);
  if (isLate && charge.latePaymentPolicy === 'suspense') return suspense('late');
  return { kind: 'credit' };
}

function endMsOf({ expiresAt }: ChargeRow, { createdAt, expiresInSeconds }: AcquirerTimes): number {
  const endMs = expiresAt.getTime();
  if (createdAt === undefined || expiresInSeconds === undefined) return endMs;
  const acquirersMs = createdAt.getTime() + expiresInSeconds * 1_000;
  return Math.max(endMs, Math.min(acquirersMs, endMs + END_LATER_MS_MAX));
}

function suspense(reason: SuspenseReason): Disposition {
  return { kind: 'suspense', reason };
}
