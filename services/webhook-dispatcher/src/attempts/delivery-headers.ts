import { signWebhookBody } from '@pixmesh/kernel/webhook-signature';

import { type DeliveredEvent, partsOf } from '#deliveries/event-parts.ts';

const USER_AGENT = 'Pixmesh-Webhooks/1';

/**
 * Headers of a delivery (specification, Delivery format; decision 205). The signature is computed over the
 * very bytes that are sent, and is absent where no secret exists. Answers are asked for uncompressed,
 * because they are never inflated.
 */
export function deliveryHeaders(delivery: {
  id: string;
  event: DeliveredEvent;
  body: Buffer;
  secret: string | null;
}): Record<string, string> {
  const { resource, method } = partsOf(delivery.event);
  return {
    'Content-Type': 'application/json',
    'User-Agent': USER_AGENT,
    'Accept-Encoding': 'identity',
    'X-Webhook-Event': delivery.event,
    'X-Webhook-Resource': resource,
    ...(method === null ? {} : { 'X-Webhook-Method': method }),
    'X-Webhook-Delivery': delivery.id,
    ...(delivery.secret === null
      ? {}
      : { 'X-Webhook-Signature': signWebhookBody(delivery.secret, delivery.body) }),
  };
}
