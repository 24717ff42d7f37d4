import type { StoredStatus } from './charge-row.ts';

/**
 * What may become of a charge (decision 80). `expired` is no state: a pending charge reads as expired, and is as open
 * to a late Pix as before (decision 70).
 */
export const TRANSITIONS: Readonly<Record<StoredStatus, readonly StoredStatus[]>> = {
  processing: ['pending', 'failed'],
  pending: ['paid', 'canceled', 'failed'],
  paid: ['refunded', 'infraction', 'charged_back'],
  infraction: ['paid', 'charged_back', 'refunded'],
  canceled: [],
  failed: [],
  refunded: [],
  charged_back: [],
};

/** Why a charge moved: the words of its history. A cause that keeps the status records what happened to its money. */
export type Cause =
  | 'created'
  | 'issued'
  | 'issuing_failed'
  | 'removed_by_acquirer'
  | 'canceled'
  | 'pix_accepted'
  | 'pix_suspended'
  | 'pix_credited'
  | 'refund_completed'
  | 'returned_at_acquirer'
  | 'dispute_opened'
  | 'dispute_under_review'
  | 'dispute_message'
  | 'dispute_won'
  | 'dispute_lost'
  | 'block_ended'
  | 'med_return';

/**
 * Whether a charge may move so now. One that has accepted its Pix can only be paid: neither a cancellation nor a
 * removal can overtake the money (decision 69).
 */
export function mayMove(
  charge: { status: StoredStatus; acceptedE2e: string | null },
  to: StoredStatus,
): boolean {
  if (charge.status === 'pending' && charge.acceptedE2e !== null) return to === 'paid';
  return TRANSITIONS[charge.status].includes(to);
}
