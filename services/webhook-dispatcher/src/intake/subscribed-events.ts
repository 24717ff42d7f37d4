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
export function deliveriesMaxOf({ subscriberIds }: SubscribedEvent): number {
  return subscriberIds.length + 1;
}

/** Events without a receiver are left out: nothing is stored of them. */
export async function withSubscribers(
  db: Queryable,
  events: readonly AssembledEvent[],
): Promise<SubscribedEvent[]> {
  if (events.length === 0) return [];
  const read = events.length <= READ_TOGETHER_MAX ? readTogether : readIds;
  const subscribers = await read(db, events);
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
