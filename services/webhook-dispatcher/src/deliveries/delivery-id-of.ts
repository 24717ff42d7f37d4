import { hash } from 'node:crypto';

import type { DeliveryId } from '@pixmesh/kernel/ids';

/** `xxxxxxxx-xxxx`: the 48 bits of a UUIDv7 that are its time (RFC 9562 section 5.7). */
const TIME_LENGTH = 13;

/**
 * The one delivery id of an event and a destination: a UUIDv7 with the time of the event's id, whose random part is
 * derived from both ids. So the primary key alone says that a pair is delivered once, and a delivery lies in the
 * partition of its event.
 */
export function deliveryIdOf(eventId: string, destinationId: string): DeliveryId {
  const ids = (eventId + destinationId).replaceAll('-', '');
  const digest = hash('sha256', Buffer.from(ids, 'hex'), 'hex');
  // The variant is the two bits 10; the other two of the digit are derived.
  const variant = ((Number.parseInt(digest.charAt(3), 16) & 0x3) | 0x8).toString(16);
  const time = eventId.slice(0, TIME_LENGTH).toLowerCase();
  return [
    time,
    `7${digest.slice(0, 3)}`,
    `${variant}${digest.slice(4, 7)}`,
    digest.slice(7, 19),
  ].join('-') as DeliveryId;
}
