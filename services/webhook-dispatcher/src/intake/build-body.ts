import { type EventName, splitEventName } from '@pixmesh/contracts/events/event-catalogue';

/**
 * The envelope of a delivery as the bytes that every attempt sends (specification, Delivery format). Built
 * once and stored: signature and id must not change between retries (decisions 183, 185).
 */
export function buildBody(delivery: {
  id: string;
  event: EventName;
  assembledAt: Date;
  data: object;
}): Buffer {
  const { resource, method, action } = splitEventName(delivery.event);
  return Buffer.from(
    JSON.stringify({
      id: delivery.id,
      object: 'event',
      event: delivery.event,
      resource,
      method,
      action,
      created_at: delivery.assembledAt.toISOString(),
      data: delivery.data,
    }),
  );
}
