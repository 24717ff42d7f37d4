import { z } from 'zod';

import { Charge } from '../http/charge.ts';
import { TOPICS } from '../topics.ts';
import { messageEnvelope } from './message-envelope.ts';
import { defineMessage } from './message-type.ts';

/** Where the deliveries of one resource go beside the registered endpoints; the secret is sealed. */
export const Destination = z.object({
  url: z.string(),
  sealed_secret: z.string().nullable(),
});
export type Destination = z.infer<typeof Destination>;

/** How a resource came to be; decides who hears of it (decision 178). */
export const ResourceSource = z.enum(['api', 'dashboard', 'checkout']);
export type ResourceSource = z.infer<typeof ResourceSource>;

export const ChargeEventType = z.enum([
  'charge.pix.created',
  'charge.pix.emitted',
  'charge.pix.paid',
  'charge.pix.failed',
]);
export type ChargeEventType = z.infer<typeof ChargeEventType>;

/** One catalogue event of a charge, with the GET-shaped snapshot of the transaction that made the change. */
function chargeEvent(type: ChargeEventType) {
  return defineMessage({
    topic: TOPICS.chargesEvents,
    type,
    schema: messageEnvelope(z.literal<ChargeEventType>(type), Charge).extend({
      source: ResourceSource,
      sequence: z.int().min(1),
      destination: Destination.nullable(),
    }),
  });
}

export const CHARGE_EVENTS = {
  'charge.pix.created': chargeEvent('charge.pix.created'),
  'charge.pix.emitted': chargeEvent('charge.pix.emitted'),
  'charge.pix.paid': chargeEvent('charge.pix.paid'),
  'charge.pix.failed': chargeEvent('charge.pix.failed'),
} as const satisfies Record<ChargeEventType, unknown>;

export type ChargeEvent = z.output<(typeof CHARGE_EVENTS)[ChargeEventType]['schema']>;
