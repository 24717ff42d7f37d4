import { type DeliveredEvent, partsOf } from './event-parts.ts';

/**
 * What all deliveries of an event share of their envelope (specification, Delivery format): everything behind the
 * delivery's id, as the bytes that every attempt sends. Built once per event and stored: signature and id must not
 * change between retries (decisions 183, 185).
 */
export function buildBodyRest(body: {
  event: DeliveredEvent;
  assembledAt: Date;
  data: object;
}): Buffer {
  const { event, assembledAt, data } = body;
  const { resource, method, action } = partsOf(event);
  const created_at = assembledAt.toISOString();
  const fields = { object: 'event', event, resource, method, action, created_at, data };
  return Buffer.from(`,${JSON.stringify(fields).slice(1)}`);
}

/** What a body was built of: the resource in the state that its event shows. */
export function dataOf(bodyRest: Buffer): unknown {
  return (JSON.parse(`{${bodyRest.toString().slice(1)}`) as { data: unknown }).data;
}

/** The whole body of a delivery: the id is an id and needs no escaping. */
export function bodyOf(deliveryId: string, bodyRest: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"id":"${deliveryId}"`), bodyRest]);
}
