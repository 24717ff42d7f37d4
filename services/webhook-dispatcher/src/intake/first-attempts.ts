import type { DueDelivery, QueuedDelivery } from '#attempts/due-delivery.ts';

import type { SubscribedEndpoint } from './choose-deliveries.ts';
import type { AddedEvent, NewDelivery, NewEvent } from './insert-events.sql.ts';

/** A new event and its endpoints, as they were read under the locks of their lanes. */
export type ChosenEvent = NewEvent & { endpoints: readonly SubscribedEndpoint[] };

/** What is to be sent of events that were added, as a fetch would find it. */
export function firstAttempts(
  events: readonly ChosenEvent[],
  added: readonly AddedEvent[],
): QueuedDelivery[] {
  const addedById = new Map(added.map((event) => [event.eventId, event]));
  return events.flatMap((event) => {
    const stored = addedById.get(event.eventId);
    if (stored === undefined) return [];
    return event.deliveries
      .filter(({ status }) => status === 'pending')
      .map((delivery) => ({
        laneId: delivery.laneId,
        due: firstAttempt(event, { delivery, stored }),
      }));
  });
}

function firstAttempt(
  event: ChosenEvent,
  { delivery, stored }: { delivery: NewDelivery; stored: AddedEvent },
): DueDelivery | null {
  const receiver = receiverOf(event, { delivery, stored });
  return (
    receiver && {
      ...receiver,
      queueId: delivery.id,
      deliveryId: delivery.id,
      laneId: delivery.laneId,
      endpointId: delivery.endpointId,
      rank: 0,
      isResend: false,
      recoveryId: null,
      attemptNumber: 1,
      accountId: event.accountId,
      event: event.type,
      bodyRest: event.bodyRest,
      traceparent: event.traceparent,
      fetchedAtMs: stored.storedAtMs,
      eventAgeSeconds: stored.ageSeconds,
    }
  );
}

/**
 * Null for an endpoint that was active when the event happened and is paused now: its deliveries wait until it is
 * resumed, or nothing is sent to it. Which secret signs a delivery that stands for both is decided where it is fetched
 * (decision 179).
 */
function receiverOf(
  { resourceId, endpoints }: ChosenEvent,
  { delivery, stored }: { delivery: NewDelivery; stored: AddedEvent },
): Pick<DueDelivery, 'url' | 'sealedSecret' | 'secretOwnerId'> | null {
  const { endpointId, forResourceUrl } = delivery;
  if (forResourceUrl) return null;
  if (endpointId === null) return stored.own && { ...stored.own, secretOwnerId: resourceId };
  const endpoint = endpoints.find(({ id }) => id === endpointId);
  if (!endpoint || endpoint.isDisabledNow) return null;
  const { url, sealedSecret } = endpoint;
  return { url, sealedSecret, secretOwnerId: endpointId };
}
