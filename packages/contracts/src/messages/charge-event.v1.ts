import { z } from 'zod';

import { Charge } from '../http/charge.ts';
import { TOPICS } from '../topics.ts';
import { resourceEvent } from './resource-event.ts';

export const ChargeEventType = z.enum([
  'charge.pix.created',
  'charge.pix.emitted',
  'charge.pix.paid',
  'charge.pix.failed',
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
} as const satisfies Record<ChargeEventType, unknown>;

export type ChargeEvent = z.output<(typeof CHARGE_EVENTS)[ChargeEventType]['schema']>;
