import { z } from 'zod';

import { PaymentSnapshot } from '../http/payout.ts';
import { TOPICS } from '../topics.ts';
import { resourceEvent } from './resource-event.ts';

export const PayoutEventType = z.enum([
  'payment.pix.created',
  'payment.pix.processing',
  'payment.pix.completed',
  'payment.pix.failed',
  'payment.pix.canceled',
]);
export type PayoutEventType = z.infer<typeof PayoutEventType>;

/** One catalogue event of a payout. All are published; whether one is delivered, its flag decides (decision 122). */
function payoutEvent(type: PayoutEventType) {
  return resourceEvent<PayoutEventType, typeof PaymentSnapshot>(
    TOPICS.payoutsEvents,
    type,
    PaymentSnapshot,
  );
}

export const PAYOUT_EVENTS = {
  'payment.pix.created': payoutEvent('payment.pix.created'),
  'payment.pix.processing': payoutEvent('payment.pix.processing'),
  'payment.pix.completed': payoutEvent('payment.pix.completed'),
  'payment.pix.failed': payoutEvent('payment.pix.failed'),
  'payment.pix.canceled': payoutEvent('payment.pix.canceled'),
} as const satisfies Record<PayoutEventType, unknown>;

export type PayoutEvent = z.output<(typeof PAYOUT_EVENTS)[PayoutEventType]['schema']>;
