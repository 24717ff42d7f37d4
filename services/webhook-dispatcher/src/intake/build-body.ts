import { type EventName, splitEventName } from '@pixmesh/contracts/events/event-catalogue';
import { TEST_EVENT } from '@pixmesh/contracts/internal/operator-deliveries';

/**
 * What all deliveries of an event share of their envelope (specification, Delivery format): everything behind the
 * delivery's id, as the bytes that every attempt sends. Built once per event and stored: signature and id must not
 * change between retries (decisions 183, 185).
 */
export function buildBodyRest(event: {
  event: EventName;
  assembledAt: Date;
  data: object;
}): Buffer {
  return toBodyRest({ ...event, ...splitEventName(event.event) });
}

/** The envelope of a test delivery, whose event has no payment method. */
export function buildTestBodyRest(test: { assembledAt: Date; data: object }): Buffer {
  const name = { event: TEST_EVENT, resource: 'webhook', method: null, action: 'test' };
  return toBodyRest({ ...test, ...name });
}

function toBodyRest(envelope: {
  event: string;
  resource: string;
  method: string | null;
  action: string;
  assembledAt: Date;
  data: object;
}): Buffer {
  const { event, resource, method, action, assembledAt, data } = envelope;
  const created_at = assembledAt.toISOString();
  const fields = { object: 'event', event, resource, method, action, created_at, data };
  return Buffer.from(`,${JSON.stringify(fields).slice(1)}`);
}

/** The whole body of a delivery: the id is an id and needs no escaping. */
export function bodyOf(deliveryId: string, bodyRest: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"id":"${deliveryId}"`), bodyRest]);
}
