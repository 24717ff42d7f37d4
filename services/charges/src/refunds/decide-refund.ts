import { type Cents, toCents } from '@pixmesh/kernel/money';

import type { ChargeRow } from '#charge/charge-row.ts';

/** A Pix can be refunded for this long after it was paid (decision 76; Central Bank rules). */
const REFUND_WINDOW_DAYS = 90;
const REFUND_WINDOW_MS = REFUND_WINDOW_DAYS * 86_400_000;

type RefundDecision =
  | { kind: 'accept'; amount: Cents; endToEndId: string }
  | { kind: 'refuse'; code: 'CHARGE_NOT_REFUNDABLE' | 'REFUND_EXCEEDS_CHARGE' };

/** The Pix of a charge that can still be refunded; null where it cannot: not paid, ended, or paid too long ago. */
export function refundablePix(
  charge: Pick<ChargeRow, 'status' | 'endToEndId' | 'paidAt' | 'readAt'>,
): string | null {
  if (charge.status !== 'paid' && charge.status !== 'infraction') return null;
  if (charge.paidAt === null) return null;
  const sincePaidMs = charge.readAt.getTime() - charge.paidAt.getTime();
  return sincePaidMs > REFUND_WINDOW_MS ? null : charge.endToEndId;
}

/**
 * Whether a refund may begin, and of how much: an absent amount is all that is left. What is under way counts as gone,
 * since it may succeed; the ledger decides (decision 79).
 *
 * @param taken sum of open refunds of the charge and of everything that went back already
 */
export function decideRefund(
  charge: ChargeRow,
  wanted: Cents | null,
  taken: bigint,
): RefundDecision {
  const endToEndId = refundablePix(charge);
  if (endToEndId === null) return { kind: 'refuse', code: 'CHARGE_NOT_REFUNDABLE' };
  const left = charge.amount - taken;
  const amount = wanted ?? left;
  if (amount <= 0n || amount > left) return { kind: 'refuse', code: 'REFUND_EXCEEDS_CHARGE' };
  return { kind: 'accept', amount: toCents(amount), endToEndId };
}
