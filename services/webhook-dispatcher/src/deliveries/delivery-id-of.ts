import { type DeliveryId, timedId } from '@pixmesh/kernel/ids';

/** `xxxxxxxx-xxxx`: the 48 bits of a UUIDv7 that are its time (RFC 9562 section 5.7). */
const TIME_LENGTH = 13;

/**
 * The one delivery id of an event and a destination: a UUIDv7 with the time of the event's id, whose random part is
 * derived from both ids. So the primary key alone says that a pair is delivered once, and a delivery lies in the
 * partition of its event.
 */
export function deliveryIdOf(eventId: string, destinationId: string): DeliveryId {
  const ids = Buffer.from((eventId + destinationId).replaceAll('-', ''), 'hex');
  return timedId(eventId.slice(0, TIME_LENGTH).toLowerCase(), ids) as DeliveryId;
}
