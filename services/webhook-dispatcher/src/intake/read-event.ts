import type { EventName } from '@pixmesh/contracts/events/event-catalogue';
import type { ChargeEvent, DisputeEvent } from '@pixmesh/contracts/messages/charge-event.v1';
import type { PayoutEvent } from '@pixmesh/contracts/messages/payout-event.v1';
import { AppError } from '@pixmesh/kernel/app-error';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import type { NewEvent } from './insert-events.sql.ts';

/** An event of a charge, a dispute or a payout. */
export type ResourceEvent = ChargeEvent | DisputeEvent | PayoutEvent;

/** An event as it came, before its deliveries are chosen. */
export type IncomingEvent = Omit<NewEvent, 'type' | 'bodyRest' | 'deliveries'> & {
  type: EventName;
  data: object;
};

/** The same with the body of its deliveries, built once. */
export type AssembledEvent = Omit<IncomingEvent, 'data'> & { bodyRest: Buffer };

/** @throws AppError `MESSAGE_INVALID` without an account: no secret could be opened and no lane named */
export function readEvent(message: ResourceEvent): IncomingEvent {
  const { account_id: accountId, destination } = message;
  if (accountId === null) {
    throw new AppError('MESSAGE_INVALID', { message: `${message.type} without account_id` });
  }
  return {
    eventId: message.event_id,
    type: message.type,
    accountId,
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
    data: message.data,
  };
}
