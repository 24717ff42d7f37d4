import { z } from 'zod';

import { PaymentSnapshot } from '../http/payout.ts';
import { TOPICS } from '../topics.ts';
import { resourceEvents } from './resource-event.ts';

export const PayoutEventType = z.enum([
  'payment.pix.created',
  'payment.pix.processing',
  'payment.pix.completed',
  'payment.pix.failed',
  'payment.pix.canceled',
]);
export type PayoutEventType = z.infer<typeof PayoutEventType>;

/**
 * The catalogue events of a payout. All are published; whether one is delivered, the catalogue decides (decision 122).
 */
export const PAYOUT_EVENTS = resourceEvents(
  TOPICS.payoutsEvents,
  PayoutEventType.options,
  PaymentSnapshot,
);

export type PayoutEvent = z.output<(typeof PAYOUT_EVENTS)[PayoutEventType]['schema']>;
