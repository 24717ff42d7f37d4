import type { Clock } from '@pixmesh/kernel/clock';
import { isLockTimeout } from '@pixmesh/postgres/database-error';
import type { Database } from '@pixmesh/postgres/pool';

import type { QueuedDelivery } from '#attempts/due-delivery.ts';
import { buildBodyRest } from '#deliveries/build-body.ts';
import { failpoint } from '#failpoints.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import type { AccountsBehind } from './accounts-behind.ts';
import { eventsInTurn } from './events-in-turn.ts';
import type { SeenEndpoint } from './find-subscribers.sql.ts';
import { firstAttempts } from './first-attempts.ts';
import { insertEventsAtOnce } from './insert-events.sql.ts';
import type { AssembledEvent, IncomingEvent } from './read-event.ts';
import { isOfNow } from './is-of-now.ts';
import { setEventsAside } from './set-aside-events.sql.ts';
import { inPortions, lanesIn, lanesOf, storePortion, withDeliveries } from './store-portion.ts';
import { SHARE_MAX, splitByShare } from './split-by-share.ts';
import { type SubscribedEvent, withSubscribers } from './subscribed-events.ts';

/** After so many accounts in a row the table itself is taken for locked, and the rest is not tried one by one. */
const LOCKED_IN_A_ROW_MAX = 3;

export type StoreEventsDeps = {
  db: Database;
  clock: Clock;
  scheduleClock: ScheduleClock;
  /** Wakes senders for lanes in which something is due. A hint: polling finds it too. */
  wakeSenders(laneIds: readonly string[]): void;
  /** Null where this process has none. */
  sender: LocalSender | null;
  /** Whose events wait to be fanned out. */
  behind: AccountsBehind;
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

/**
 * Writes events with one delivery per destination: the resource's own URL and the endpoints that subscribe. What is
 * stored already, also by a message that came twice in this very batch, is left as it is. Of one account no more than
 * its share is fanned out; its other events are set aside (ADR 0050), as are those of accounts whose lanes others hold.
 */
export async function storeEvents(
  deps: StoreEventsDeps,
  incoming: readonly IncomingEvent[],
): Promise<void> {
  const { db, behind } = deps;
  const events = [...new Map(incoming.map((event) => [event.eventId, event])).values()];
  const subscribed = await withSubscribers(db, assemble(events, deps.clock));
  const { shares, others } = splitByShare(subscribed, behind);
  for (const portion of inPortions(eventsInTurn(shares), SHARE_MAX)) {
    if (await tryToStore(deps, portion)) continue;
    others.push(...(await storeByAccount(deps, portion)));
  }
  if (others.length === 0) return;
  await setEventsAside(db, others);
  await failpoint('webhooks.intake.after-set-aside');
  behind.add(others);
}

/** Answers the events of accounts with a lane that another transaction holds: those are set aside, and nobody waits. */
async function storeByAccount(
  deps: StoreEventsDeps,
  portion: readonly SubscribedEvent[],
): Promise<SubscribedEvent[]> {
  const locked: SubscribedEvent[] = [];
  let lockedInARow = 0;
  for (const events of Map.groupBy(portion, ({ accountId }) => accountId).values()) {
    const isStored = lockedInARow < LOCKED_IN_A_ROW_MAX && (await tryToStore(deps, events));
    lockedInARow = isStored ? 0 : lockedInARow + 1;
    if (!isStored) locked.push(...events);
  }
  return locked;
}

/** False where another transaction holds a row that has to be locked; then nothing is stored. */
async function tryToStore(
  deps: StoreEventsDeps,
  portion: readonly SubscribedEvent[],
): Promise<boolean> {
  try {
    await storeAndSend(
      deps,
      async () =>
        (await storeAtOnce(deps, portion)) ??
        (await deps.db.transaction((tx) => storePortion(tx, deps, portion))),
    );
    return true;
  } catch (error) {
    if (isLockTimeout(error) && portion.every(isOfNow)) return false;
    throw error;
  }
}

/** Begins what may be sent at once of what is stored, and wakes senders for the rest. */
export async function storeAndSend(
  { sender, wakeSenders }: Pick<StoreEventsDeps, 'sender' | 'wakeSenders'>,
  store: () => Promise<QueuedDelivery[]>,
): Promise<void> {
  const sendQueued = sender?.prepareSends() ?? lanesIn;
  const queued = await store();
  await failpoint('webhooks.intake.after-commit');
  const laneIds = sendQueued(queued);
  if (laneIds.length > 0) wakeSenders(laneIds);
}

function assemble(events: readonly IncomingEvent[], clock: Clock): AssembledEvent[] {
  const assembledAt = clock.now();
  return events.map(({ data, ...event }) => ({
    ...event,
    bodyRest: buildBodyRest({ event: event.type, assembledAt, data }),
  }));
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
