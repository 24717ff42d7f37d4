import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';
import { Charge } from './charge.ts';
import { Dispute } from './dispute.ts';
import { EventNameText } from './event-catalogue-entry.ts';
import { PaymentSnapshot } from './payout.ts';

/** The body of every delivery (specification, Delivery format). */
export const WebhookEvent = z.object({
  id: z
    .uuid()
    .meta({ description: 'Delivery id; equals `X-Webhook-Delivery`, identical on every retry.' }),
  object: z.literal('event'),
  event: EventNameText,
  resource: z.string(),
  method: z.string(),
  action: z.string(),
  created_at: Timestamp.meta({ description: 'When the delivery was assembled.' }),
  data: z.looseObject({}).meta({
    description: 'The resource right after the change, in the shape of its GET.',
  }),
});

export const ChargeEvent = WebhookEvent.extend({ resource: z.literal('charge'), data: Charge });
export const PaymentEvent = WebhookEvent.extend({
  resource: z.literal('payment'),
  data: PaymentSnapshot,
});
export const DisputeEvent = WebhookEvent.extend({ resource: z.literal('dispute'), data: Dispute });
