import { createLaps } from '@pixmesh/fair-share/laps';

/**
 * One event of each account in turn, then a second one of each, and an account's own in their order: where a batch is
 * stored in portions, nobody's event waits behind those of an account with many endpoints.
 */
export function eventsInTurn<Event extends { accountId: string }>(
  events: readonly Event[],
): Event[] {
  const laps = createLaps<Event>();
  for (const event of events) laps.add(event.accountId, event);
  return laps.take(events.length);
}
