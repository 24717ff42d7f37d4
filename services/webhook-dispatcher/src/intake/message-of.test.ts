import {
  CHARGE_EVENTS,
  ChargeEventType,
  DISPUTE_EVENTS,
  DisputeEventType,
} from '@pixmesh/contracts/messages/charge-event.v1';
import { PAYOUT_EVENTS, PayoutEventType } from '@pixmesh/contracts/messages/payout-event.v1';
import { expect, test } from 'vitest';

import { buildBodyRest } from '#deliveries/build-body.ts';
import { aChargeEvent } from '#test/a-charge-event.ts';
import { aDisputeEvent } from '#test/a-dispute-event.ts';
import { aPayoutEvent } from '#test/a-payout-event.ts';

import { messageOf } from './message-of.ts';
import { readEvent, type ResourceEvent } from './read-event.ts';

const MESSAGES = { ...CHARGE_EVENTS, ...DISPUTE_EVENTS, ...PAYOUT_EVENTS };
const EVENTS: ResourceEvent[] = [
  ...ChargeEventType.options.map((type) => aChargeEvent({ type })),
  aChargeEvent({ url: null, charge: { reference: 'ação \u{1f4b8} "\0' } }),
  ...DisputeEventType.options.map((type) => aDisputeEvent({ type })),
  ...PayoutEventType.options.map((type) => aPayoutEvent({ type })),
];

test.each(EVENTS)('the message of $type is made again as it was', (event) => {
  const { data, ...read } = readEvent(event);
  const bodyRest = buildBodyRest({ event: event.type, assembledAt: new Date(), data });
  const made = messageOf({ ...read, bodyRest });
  expect(made).toMatchObject({
    eventId: event.event_id,
    topic: MESSAGES[event.type].topic,
    type: event.type,
    key: event.data.object === 'dispute' ? event.data.charge_id : event.data.id,
    message: event,
  });
  expect(MESSAGES[event.type].schema.parse(made.message)).toEqual(event);
});
