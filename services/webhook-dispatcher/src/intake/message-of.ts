import { CHARGE_EVENTS, DISPUTE_EVENTS } from '@pixmesh/contracts/messages/charge-event.v1';
import { PAYOUT_EVENTS } from '@pixmesh/contracts/messages/payout-event.v1';
import type { EventToPublish } from '@pixmesh/kafka/outgoing-message';
import { outboundEvent } from '@pixmesh/postgres/events';

import { dataOf } from '#deliveries/build-body.ts';

import type { AssembledEvent, ResourceEvent } from './read-event.ts';

const MESSAGES = { ...CHARGE_EVENTS, ...DISPUTE_EVENTS, ...PAYOUT_EVENTS };

/** The message that an event came by. */
export function messageOf(event: AssembledEvent): EventToPublish {
  const { own, sequence } = event;
  const message = {
    event_id: event.eventId,
    type: event.type,
    version: 1,
    occurred_at: event.occurredAt,
    account_id: event.accountId,
    application_id: event.applicationId,
    data: dataOf(event.bodyRest),
    source: event.source,
    sequence,
    destination: own === null ? null : { url: own.url, sealed_secret: own.sealedSecret },
  } as ResourceEvent;
  const { data } = message;
  // Events of a dispute are on the topic under their charge.
  const key = data.object === 'dispute' ? data.charge_id : data.id;
  const place = { key, sequence };
  return {
    ...outboundEvent(
      MESSAGES[message.type] as (typeof MESSAGES)['charge.pix.paid'],
      place,
      message as never,
    ),
    traceparent: event.traceparent,
  };
}
