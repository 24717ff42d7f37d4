import type { Queryable, Transaction } from '@pixmesh/postgres/pool';

import type { QueuedDelivery } from '#attempts/due-delivery.ts';
import { deliveryIdOf } from '#deliveries/delivery-id-of.ts';
import { laneOf } from '#lanes/lane-of.ts';
import { type AccountLane, lockLanesToQueue, wakeLanes } from '#lanes/lanes.sql.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import { chooseDeliveries, type SubscribedEndpoint } from './choose-deliveries.ts';
import { loadSubscriptions, type Subscription } from './find-subscribers.sql.ts';
import { type ChosenEvent, firstAttempts } from './first-attempts.ts';
import { insertEvents } from './insert-events.sql.ts';
import { deliveriesMaxOf, type SubscribedEvent } from './subscribed-events.ts';

/** An event is never cut apart, however many endpoints it reaches: its deliveries are chosen once. */
export function* inPortions(
  events: readonly SubscribedEvent[],
  deliveriesMax: number,
): Generator<SubscribedEvent[]> {
  let portion: SubscribedEvent[] = [];
  let size = 0;
  for (const event of events) {
    const deliveries = deliveriesMaxOf(event);
    if (size > 0 && size + deliveries > deliveriesMax) {
      yield portion;
      portion = [];
      size = 0;
    }
    portion.push(event);
    size += deliveries;
  }
  if (portion.length > 0) yield portion;
}

/**
 * One transaction; answers what is to be sent of what is new.
 *
 * From `lockLanesToQueue` on no sender releases the lanes and no transaction pauses, resumes or deletes their
 * endpoints, so whether an endpoint was active for an event (`wasActiveAt`) is decided on what stays true until the
 * commit: an earlier pause is seen, and a later resumption finds what was queued. An endpoint that subscribes between
 * the two reads of endpoints does so after the event was consumed.
 */
export async function storePortion(
  tx: Transaction,
  { scheduleClock }: { scheduleClock: ScheduleClock },
  portion: readonly SubscribedEvent[],
): Promise<QueuedDelivery[]> {
  const owned = await lockLanesToQueue(tx, portion.flatMap(lanesOf));
  const endpoints = await readEndpoints(tx, portion);
  const events = portion
    .map((event, place) => withDeliveries(event, endpoints[place] ?? []))
    .filter(({ deliveries }) => deliveries.length > 0);
  if (events.length === 0) return [];
  const added = await insertEvents(tx, scheduleClock, events);
  const queued = firstAttempts(events, added);
  const asleep = lanesIn(queued).filter((id) => !owned.has(id));
  if (asleep.length > 0) await wakeLanes(tx, scheduleClock, asleep);
  return queued;
}

/** Every lane that deliveries of an event may be in, whichever of them it makes. */
export function lanesOf({ accountId, own, subscriberIds }: SubscribedEvent): AccountLane[] {
  const ids = own === null ? subscriberIds : [...subscriberIds, laneOf(accountId, own.url)];
  return ids.map((id) => ({ id, accountId }));
}

async function readEndpoints(
  tx: Queryable,
  portion: readonly SubscribedEvent[],
): Promise<SubscribedEndpoint[][]> {
  const subscriptions = portion.flatMap(({ occurredAt, type, subscriberIds }, place) =>
    subscriberIds.map((endpointId): Subscription => ({ place, occurredAt, type, endpointId })),
  );
  const endpoints = portion.map((): SubscribedEndpoint[] => []);
  if (subscriptions.length === 0) return endpoints;
  for (const { place, ...endpoint } of await loadSubscriptions(tx, subscriptions)) {
    endpoints[place]?.push(endpoint);
  }
  return endpoints;
}

export function withDeliveries(
  event: SubscribedEvent,
  endpoints: readonly SubscribedEndpoint[],
): ChosenEvent {
  const deliveries = chooseDeliveries({ ...event, endpoints }).map((chosen) => ({
    ...chosen,
    id: deliveryIdOf(event.eventId, chosen.destinationId),
  }));
  return { ...event, deliveries, endpoints };
}

export function lanesIn(deliveries: readonly { laneId: string }[]): string[] {
  return [...new Set(deliveries.map(({ laneId }) => laneId))];
}
