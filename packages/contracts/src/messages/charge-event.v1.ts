import { z } from 'zod';

import { Charge } from '../http/charge.ts';
import { Dispute } from '../http/dispute.ts';
import { TOPICS } from '../topics.ts';
import { resourceEvent } from './resource-event.ts';

export const ChargeEventType = z.enum([
  'charge.pix.created',
  'charge.pix.emitted',
  'charge.pix.paid',
  'charge.pix.failed',
  'charge.pix.canceled',
  'charge.pix.refunded',
  'charge.pix.infraction',
  'charge.pix.charged_back',
]);
export type ChargeEventType = z.infer<typeof ChargeEventType>;

/** One catalogue event of a charge. */
function chargeEvent(type: ChargeEventType) {
  return resourceEvent<ChargeEventType, typeof Charge>(TOPICS.chargesEvents, type, Charge);
}

export const CHARGE_EVENTS = {
  'charge.pix.created': chargeEvent('charge.pix.created'),
  'charge.pix.emitted': chargeEvent('charge.pix.emitted'),
  'charge.pix.paid': chargeEvent('charge.pix.paid'),
  'charge.pix.failed': chargeEvent('charge.pix.failed'),
  'charge.pix.canceled': chargeEvent('charge.pix.canceled'),
  'charge.pix.refunded': chargeEvent('charge.pix.refunded'),
  'charge.pix.infraction': chargeEvent('charge.pix.infraction'),
  'charge.pix.charged_back': chargeEvent('charge.pix.charged_back'),
} as const satisfies Record<ChargeEventType, unknown>;

export type ChargeEvent = z.output<(typeof CHARGE_EVENTS)[ChargeEventType]['schema']>;

export const DisputeEventType = z.enum([
  'dispute.pix.opened',
  'dispute.pix.message',
  'dispute.pix.won',
  'dispute.pix.lost',
]);
export type DisputeEventType = z.infer<typeof DisputeEventType>;

/**
 * One catalogue event of a dispute. It stands on the topic of its charge, under the charge's id and numbered by the
 * charge's counter; it never has a destination of its own (decision 180).
 */
function disputeEvent(type: DisputeEventType) {
  return resourceEvent<DisputeEventType, typeof Dispute>(TOPICS.chargesEvents, type, Dispute);
}

export const DISPUTE_EVENTS = {
  'dispute.pix.opened': disputeEvent('dispute.pix.opened'),
  'dispute.pix.message': disputeEvent('dispute.pix.message'),
  'dispute.pix.won': disputeEvent('dispute.pix.won'),
  'dispute.pix.lost': disputeEvent('dispute.pix.lost'),
} as const satisfies Record<DisputeEventType, unknown>;

export type DisputeEvent = z.output<(typeof DISPUTE_EVENTS)[DisputeEventType]['schema']>;
