import type { Clock } from '@pixmesh/kernel/clock';
import type { Database, Queryable, Transaction } from '@pixmesh/postgres/pool';

import type { QueuedDelivery } from '#attempts/due-delivery.ts';
import { buildBodyRest } from '#deliveries/build-body.ts';
import { deliveryIdOf } from '#deliveries/delivery-id-of.ts';
import { failpoint } from '#failpoints.ts';
import { laneOf } from '#lanes/lane-of.ts';
import { type AccountLane, lockLanesToQueue, wakeLanes } from '#lanes/lanes.sql.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import { chooseDeliveries, type SubscribedEndpoint } from './choose-deliveries.ts';
import { eventsInTurn } from './events-in-turn.ts';
import {
  findSubscribers,
  findSubscribersOfEvents,
  loadSubscriptions,
  type SeenEndpoint,
  type Subscription,
} from './find-subscribers.sql.ts';
import { type ChosenEvent, firstAttempts } from './first-attempts.ts';
import { insertEvents, insertEventsAtOnce } from './insert-events.sql.ts';
import type { IncomingEvent } from './read-event.ts';

/** Deliveries of one transaction, however many endpoints an event reaches beyond that. */
const DELIVERIES_PER_COMMIT_MAX = 1_000;
/** Events that are read with their endpoints at once: beyond, one read for each audience answers much less. */
const READ_TOGETHER_MAX = 16;

export type StoreEventsDeps = {
  db: Database;
  clock: Clock;
  scheduleClock: ScheduleClock;
  /** Wakes senders for lanes in which something is due. A hint: polling finds it too. */
  wakeSenders(laneIds: readonly string[]): void;
  /** Null where this process has none. */
  sender: LocalSender | null;
};

/** Begins the sends that need no turn; answers the lanes of the others. */
type SendQueued = (deliveries: readonly QueuedDelivery[]) => string[];

/** The sender of this process. */
export type LocalSender = {
  /** Whether it serves these lanes, as far as it knows. */
  serves(laneIds: readonly string[]): boolean;
  /** To be called before deliveries are stored. What it answers is given them once they are. */
  prepareSends(): SendQueued;
};

/** An event and the endpoints that may receive it; how they were seen, unless only their ids were read. */
type SubscribedEvent = IncomingEvent & {
  bodyRest: Buffer;
  subscriberIds: readonly string[];
  seen: readonly SeenEndpoint[] | null;
};

type Subscribers = Pick<SubscribedEvent, 'subscriberIds' | 'seen'>;

/**
 * Writes events with one delivery per destination: the resource's own URL and the endpoints that subscribe. What is
 * stored already, also by a message that came twice in this very batch, is left as it is.
 */
export async function storeEvents(
  deps: StoreEventsDeps,
  incoming: readonly IncomingEvent[],
): Promise<void> {
  const events = [...new Map(incoming.map((event) => [event.eventId, event])).values()];
  const subscribed = await withSubscribers(deps, events);
  for (const portion of inPortions(eventsInTurn(subscribed))) {
    const sendQueued = deps.sender?.prepareSends() ?? lanesIn;
    const queued =
      (await storeAtOnce(deps, portion)) ??
      (await deps.db.transaction((tx) => storePortion(tx, deps, portion)));
    await failpoint('webhooks.intake.after-commit');
    const laneIds = sendQueued(queued);
    if (laneIds.length > 0) deps.wakeSenders(laneIds);
  }
}

/** Events without a receiver are left out: nothing is stored of them. */
async function withSubscribers(
  { db, clock }: StoreEventsDeps,
  events: readonly IncomingEvent[],
): Promise<SubscribedEvent[]> {
  const read = events.length <= READ_TOGETHER_MAX ? readTogether : readIds;
  const subscribers = await read(db, events);
  const assembledAt = clock.now();
  return events.flatMap((event, place) => {
    const found = subscribers[place] ?? { subscriberIds: [], seen: null };
    if (event.own === null && found.subscriberIds.length === 0) return [];
    const bodyRest = buildBodyRest({ event: event.type, assembledAt, data: event.data });
    return [{ ...event, ...found, bodyRest }];
  });
}

async function readTogether(
  db: Queryable,
  events: readonly IncomingEvent[],
): Promise<Subscribers[]> {
  const found = await findSubscribersOfEvents(db, events);
  return found.map((seen) => ({ seen, subscriberIds: seen.map(({ id }) => id) }));
}

async function readIds(db: Queryable, events: readonly IncomingEvent[]): Promise<Subscribers[]> {
  const keyOf = (event: IncomingEvent): string =>
    `${event.accountId} ${event.applicationId} ${event.type}`;
  const audiences = new Map(events.map((event) => [keyOf(event), event]));
  const found = await findSubscribers(db, [...audiences.values()]);
  const idsOf = new Map([...audiences.keys()].map((key, place) => [key, found[place] ?? []]));
  return events.map((event) => ({ seen: null, subscriberIds: idsOf.get(keyOf(event)) ?? [] }));
}

/**
 * One statement, where senders own all the lanes and each endpoint receives its event and is as it was seen: then
 * nothing is to be decided under the locks (ADR 0035). Answers as `storePortion` does; null where that has to store the
 * events.
 */
async function storeAtOnce(
  { db, scheduleClock: clock, sender }: StoreEventsDeps,
  portion: readonly SubscribedEvent[],
): Promise<QueuedDelivery[] | null> {
  const seen = seenReceivers(portion);
  const laneIds = [...new Set(portion.flatMap(lanesOf).map(({ id }) => id))];
  if (seen === null || !sender?.serves(laneIds)) return null;
  const events = portion.map((event) => withDeliveries(event, event.seen ?? []));
  const endpoints = [...new Map(seen.map(({ id, version }) => [id, { id, version }])).values()];
  const added = await insertEventsAtOnce(db, clock, { events, laneIds, endpoints });
  return added && firstAttempts(events, added);
}

/** Null where one of them was not seen, or its delivery would not be sent now. */
function seenReceivers(portion: readonly SubscribedEvent[]): SeenEndpoint[] | null {
  const isSentTo = (one: SeenEndpoint): boolean => one.wasActive && !one.isDisabledNow;
  const areSeen = portion.every(({ subscriberIds, seen }) =>
    seen === null ? subscriberIds.length === 0 : seen.every(isSentTo),
  );
  return areSeen ? portion.flatMap((event) => event.seen ?? []) : null;
}

/**
 * One transaction; answers what is to be sent of what is new.
 *
 * From `lockLanesToQueue` on no sender releases the lanes and no transaction pauses, resumes or deletes their
 * endpoints, so whether an endpoint was active for an event (`wasActiveAt`) is decided on what stays true until the
 * commit: an earlier pause is seen, and a later resumption finds what was queued. An endpoint that subscribes between
 * the two reads of endpoints does so after the event was consumed.
 */
async function storePortion(
  tx: Transaction,
  { scheduleClock }: StoreEventsDeps,
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
function lanesOf({ accountId, own, subscriberIds }: SubscribedEvent): AccountLane[] {
  const ids = own === null ? subscriberIds : [...subscriberIds, laneOf(accountId, own.url)];
  return ids.map((id) => ({ id, accountId }));
}

async function readEndpoints(
  tx: Transaction,
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

function withDeliveries(
  event: SubscribedEvent,
  endpoints: readonly SubscribedEndpoint[],
): ChosenEvent {
  const deliveries = chooseDeliveries({ ...event, endpoints }).map((chosen) => ({
    ...chosen,
    id: deliveryIdOf(event.eventId, chosen.destinationId),
  }));
  return { ...event, deliveries, endpoints };
}

function lanesIn(deliveries: readonly { laneId: string }[]): string[] {
  return [...new Set(deliveries.map(({ laneId }) => laneId))];
}

/** An event is never cut apart: its deliveries are chosen once. */
function* inPortions(events: readonly SubscribedEvent[]): Generator<SubscribedEvent[]> {
  let portion: SubscribedEvent[] = [];
  let size = 0;
  for (const event of events) {
    const deliveries = event.subscriberIds.length + 1;
    if (size > 0 && size + deliveries > DELIVERIES_PER_COMMIT_MAX) {
      yield portion;
      portion = [];
      size = 0;
    }
    portion.push(event);
    size += deliveries;
  }
  if (portion.length > 0) yield portion;
}
