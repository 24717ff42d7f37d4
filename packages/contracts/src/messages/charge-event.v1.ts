import { z } from 'zod';

import { Charge } from '../http/charge.ts';
import { Dispute } from '../http/dispute.ts';
import { TOPICS } from '../topics.ts';
import { resourceEvents } from './resource-event.ts';

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

/** The catalogue events of a charge. */
export const CHARGE_EVENTS = resourceEvents(TOPICS.chargesEvents, ChargeEventType.options, Charge);

export type ChargeEvent = z.output<(typeof CHARGE_EVENTS)[ChargeEventType]['schema']>;

export const DisputeEventType = z.enum([
  'dispute.pix.opened',
  'dispute.pix.message',
  'dispute.pix.won',
  'dispute.pix.lost',
]);
export type DisputeEventType = z.infer<typeof DisputeEventType>;

/**
 * The catalogue events of a dispute. They stand on the topic of its charge, under the charge's id and numbered by the
 * charge's counter; they never have a destination of their own (decision 180).
 */
export const DISPUTE_EVENTS = resourceEvents(
  TOPICS.chargesEvents,
  DisputeEventType.options,
  Dispute,
);

export type DisputeEvent = z.output<(typeof DISPUTE_EVENTS)[DisputeEventType]['schema']>;
