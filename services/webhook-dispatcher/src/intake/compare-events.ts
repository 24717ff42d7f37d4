import type { EventName } from '@pixmesh/contracts/events/event-catalogue';
import type {
  ComparedEvent,
  ComparedEvents,
  CompareEventsBody,
} from '@pixmesh/contracts/internal/compare-events';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Queryable } from '@pixmesh/postgres/pool';

import { findDismissedEvents, findStoredEvents, findUnlistedEvents } from './compare-events.sql.ts';
import { findSubscribers, loadSubscriptions, type Subscription } from './find-subscribers.sql.ts';
import type { IntakeDeps } from './intake.ts';

export type CompareEventsDeps = {
  db: Queryable;
  isDispatched: IntakeDeps['isDispatched'];
  /** The intake has handled all that was published before; null while the broker does not say. */
  handledUntil(): Promise<Date | null>;
};

/**
 * Compares what an owner has written with what was taken in: an event without a delivery although it has a destination
 * was lost on its way here, or waits for the intake; one that the owner does not have was lost there.
 *
 * @throws AppError `DEPENDENCY_UNAVAILABLE` where it is not known how far the intake is
 */
export async function compareEvents(
  deps: CompareEventsDeps,
  body: CompareEventsBody,
): Promise<ComparedEvents> {
  const { db, isDispatched } = deps;
  // Before anything is looked for: what is handled by then is found.
  const handledUntil = await deps.handledUntil();
  if (handledUntil === null) {
    const message = 'the broker does not say how far the intake is';
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message });
  }
  const listed = body.events.map(({ event_id }) => event_id);
  const stored = await findStoredEvents(db, body.events);
  const absent = body.events.filter(
    ({ event_id, type }) => !stored.has(event_id) && isDispatched(type as EventName),
  );
  const receivers = await countReceivers(db, absent);
  const missing = absent
    .filter(({ has_url }, place) => has_url || receivers[place]! > 0)
    .map(({ event_id }) => event_id);
  return {
    missing: await withoutDismissed(db, missing),
    unknown: await findUnlistedEvents(db, body, listed),
    handled_until: handledUntil.toISOString(),
  };
}

/** What an operator has given up at the intake comes no more, however often it is sent again. */
async function withoutDismissed(db: Queryable, missing: readonly string[]): Promise<string[]> {
  if (missing.length === 0) return [];
  const dismissed = await findDismissedEvents(db);
  return missing.filter((id) => !dismissed.has(id));
}

/** How many endpoints each event has, by the rules of its intake. */
async function countReceivers(db: Queryable, events: readonly ComparedEvent[]): Promise<number[]> {
  const counts = events.map(() => 0);
  if (events.length === 0) return counts;
  const subscribers = await findSubscribers(
    db,
    events.map(({ account_id, application_id, type }) => ({
      accountId: account_id,
      applicationId: application_id,
      type,
    })),
  );
  const subscriptions = events.flatMap(({ occurred_at, type }, place) =>
    (subscribers[place] ?? []).map((endpointId): Subscription => {
      return { place, occurredAt: occurred_at, type, endpointId };
    }),
  );
  if (subscriptions.length === 0) return counts;
  for (const { place } of await loadSubscriptions(db, subscriptions)) counts[place]! += 1;
  return counts;
}
