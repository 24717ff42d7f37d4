import type { EventName } from '@pixmesh/contracts/events/event-catalogue';
import type { ChargeEvent } from '@pixmesh/contracts/messages/charge-event.v1';
import type { PayoutEvent } from '@pixmesh/contracts/messages/payout-event.v1';
import { failpoint } from '@pixmesh/http/failpoints';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Clock } from '@pixmesh/kernel/clock';
import { type DeliveryId, newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import { buildBody } from './build-body.ts';
import { laneOf } from './lane-of.ts';
import { insertEvent } from './store-event.sql.ts';

/** An event of a resource that has a destination of its own. */
export type ResourceEvent = ChargeEvent | PayoutEvent;

export type StoreEventDeps = {
  db: Database;
  clock: Clock;
  /** The catalogue's flag, and nothing else, decides whether an event is delivered (decision 122). */
  isDispatched(event: EventName): boolean;
  /** Tells senders that something is due. A hint: polling finds it too. */
  wakeSenders(): void;
};

/**
 * Writes an event with its destination and one delivery per destination. All of it is one statement whose
 * permanent key is (event, destination), so a message that comes again adds nothing, also after a crash
 * right behind the commit.
 */
export async function storeEvent(deps: StoreEventDeps, message: ResourceEvent): Promise<void> {
  const { destination } = message;
  if (destination === null || !deps.isDispatched(message.type)) return;
  const accountId = accountOf(message);
  const deliveryId = newId<DeliveryId>();
  const isNew = await insertEvent(deps.db, {
    eventId: message.event_id,
    type: message.type,
    accountId,
    applicationId: message.application_id,
    resourceId: message.data.id,
    source: message.source,
    sequence: message.sequence,
    occurredAt: message.occurred_at,
    destination: { url: destination.url, sealedSecret: destination.sealed_secret },
    delivery: {
      id: deliveryId,
      laneId: laneOf(accountId, destination.url),
      traceparent: currentTraceParent(),
      body: buildBody({
        id: deliveryId,
        event: message.type,
        assembledAt: deps.clock.now(),
        data: message.data,
      }),
    },
  });
  await failpoint('webhooks.intake.after-commit');
  if (isNew) deps.wakeSenders();
}

/** A resource always has an account; without it no secret could be opened and no lane named. */
function accountOf(message: ResourceEvent): string {
  if (message.account_id !== null) return message.account_id;
  throw new AppError('MESSAGE_INVALID', { message: `${message.type} without account_id` });
}
