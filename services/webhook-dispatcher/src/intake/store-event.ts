import type { EventName } from '@pixmesh/contracts/events/event-catalogue';
import type { ChargeEvent, DisputeEvent } from '@pixmesh/contracts/messages/charge-event.v1';
import type { PayoutEvent } from '@pixmesh/contracts/messages/payout-event.v1';
import { failpoint } from '@pixmesh/http/failpoints';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Clock } from '@pixmesh/kernel/clock';
import { type DeliveryId, newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import { buildBody } from './build-body.ts';
import { type ChosenDelivery, chooseDeliveries } from './choose-deliveries.ts';
import { findSubscribedEndpoints } from './find-subscribed-endpoints.sql.ts';
import { insertEvent, type NewDelivery, type NewEvent } from './store-event.sql.ts';

/** An event of a charge, a dispute or a payout. */
export type ResourceEvent = ChargeEvent | DisputeEvent | PayoutEvent;

export type StoreEventDeps = {
  db: Database;
  clock: Clock;
  /** The catalogue's flag, and nothing else, decides whether an event is delivered (decision 122). */
  isDispatched(event: EventName): boolean;
  /** Tells senders that something is due. A hint: polling finds it too. */
  wakeSenders(): void;
};

/**
 * Writes an event with one delivery per destination: the resource's own URL and the endpoints that subscribe to it.
 * All of it is one statement, and which deliveries an event makes is decided once, so a message that comes again
 * adds nothing, also after a crash right behind the commit. An endpoint that changes between the read and that
 * statement is met again by the claim, which goes by its state then.
 */
export async function storeEvent(deps: StoreEventDeps, message: ResourceEvent): Promise<void> {
  if (!deps.isDispatched(message.type)) return;
  const event = readEvent(message);
  const endpoints = await findSubscribedEndpoints(deps.db, event);
  const chosen = chooseDeliveries({ ...event, endpoints });
  if (chosen.length === 0) return;
  const assembledAt = deps.clock.now();
  const deliveries = chosen.map((delivery) => withBody(delivery, message, assembledAt));
  const isNew = await insertEvent(deps.db, { ...event, deliveries });
  await failpoint('webhooks.intake.after-commit');
  if (isNew && chosen.some(({ status }) => status === 'pending')) deps.wakeSenders();
}

type EventOfResource = Omit<NewEvent, 'deliveries'>;

function readEvent(message: ResourceEvent): EventOfResource {
  const { destination } = message;
  return {
    eventId: message.event_id,
    type: message.type,
    accountId: accountOf(message),
    applicationId: message.application_id,
    resourceId: message.data.id,
    source: message.source,
    sequence: message.sequence,
    occurredAt: message.occurred_at,
    traceparent: currentTraceParent(),
    own:
      destination === null
        ? null
        : { url: destination.url, sealedSecret: destination.sealed_secret },
  };
}

/** Every delivery has an id of its own (decision 186), so each has bytes of its own. */
function withBody(chosen: ChosenDelivery, message: ResourceEvent, assembledAt: Date): NewDelivery {
  const id = newId<DeliveryId>();
  const body = buildBody({ id, event: message.type, assembledAt, data: message.data });
  return { ...chosen, id, body };
}

/** A resource always has an account; without it no secret could be opened and no lane named. */
function accountOf(message: ResourceEvent): string {
  if (message.account_id !== null) return message.account_id;
  throw new AppError('MESSAGE_INVALID', { message: `${message.type} without account_id` });
}
