import type { Queryable } from '@pixmesh/postgres/pool';

import {
  findSubscribers,
  findSubscribersOfEvents,
  type SeenEndpoint,
} from './find-subscribers.sql.ts';
import type { AssembledEvent } from './read-event.ts';

/** Events that are read with their endpoints at once: beyond, one read for each audience answers much less. */
const READ_TOGETHER_MAX = 16;

/** An event and the endpoints that may receive it; how they were seen, unless only their ids were read. */
export type SubscribedEvent = AssembledEvent & {
  subscriberIds: readonly string[];
  seen: readonly SeenEndpoint[] | null;
};

type Subscribers = Pick<SubscribedEvent, 'subscriberIds' | 'seen'>;

/** Deliveries that an event makes at most. */
export function deliveriesMaxOf({ own, subscriberIds }: SubscribedEvent): number {
  return subscriberIds.length + (own === null ? 0 : 1);
}

/** Events without a receiver are left out: nothing is stored of them. */
export async function withSubscribers(
  db: Queryable,
  events: readonly AssembledEvent[],
): Promise<SubscribedEvent[]> {
  if (events.length > READ_TOGETHER_MAX) return await withSubscriberIds(db, events);
  return withReceivers(events, await readTogether(db, events));
}

/** The same with the ids of the endpoints alone, as a transaction needs them that reads the endpoints anyway. */
export async function withSubscriberIds(
  db: Queryable,
  events: readonly AssembledEvent[],
): Promise<SubscribedEvent[]> {
  return withReceivers(events, await readIds(db, events));
}

function withReceivers(
  events: readonly AssembledEvent[],
  subscribers: readonly Subscribers[],
): SubscribedEvent[] {
  return events.flatMap((event, place) => {
    const found = subscribers[place] ?? { subscriberIds: [], seen: null };
    if (event.own === null && found.subscriberIds.length === 0) return [];
    return [{ ...event, ...found }];
  });
}

async function readTogether(
  db: Queryable,
  events: readonly AssembledEvent[],
): Promise<Subscribers[]> {
  const found = await findSubscribersOfEvents(db, events);
  return found.map((seen) => ({ seen, subscriberIds: seen.map(({ id }) => id) }));
}

async function readIds(db: Queryable, events: readonly AssembledEvent[]): Promise<Subscribers[]> {
  const keyOf = (event: AssembledEvent): string =>
    `${event.accountId} ${event.applicationId} ${event.type}`;
  const audiences = new Map(events.map((event) => [keyOf(event), event]));
  const found = await findSubscribers(db, [...audiences.values()]);
  const idsOf = new Map([...audiences.keys()].map((key, place) => [key, found[place] ?? []]));
  return events.map((event) => ({ seen: null, subscriberIds: idsOf.get(keyOf(event)) ?? [] }));
}
