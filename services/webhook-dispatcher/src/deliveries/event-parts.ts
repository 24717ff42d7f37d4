import {
  type EventName,
  type EventNameParts,
  splitEventName,
} from '@pixmesh/contracts/events/event-catalogue';
import { TEST_EVENT } from '@pixmesh/contracts/internal/operator-deliveries';

/** Events that deliveries are of: those of the catalogue, and that of a test. */
export type DeliveredEvent = EventName | typeof TEST_EVENT;

/** Parts of an event in its deliveries, beside the name; a test has no payment method. */
export type EventParts = Omit<EventNameParts, 'method'> & { method: string | null };

export function partsOf(event: DeliveredEvent): EventParts {
  if (event !== TEST_EVENT) return splitEventName(event);
  return { resource: 'webhook', method: null, action: 'test' };
}
