import { CHARGE_EVENTS, DISPUTE_EVENTS } from '@pixmesh/contracts/messages/charge-event.v1';
import { PAYOUT_EVENTS } from '@pixmesh/contracts/messages/payout-event.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/messaging';

import { storeEvent, type StoreEventDeps } from './store-event.ts';

/**
 * Takes every catalogue event of charges, their disputes and payouts, and treats them alike; one group for all processes with the
 * role `intake`.
 */
export function resourceEventsIntake(deps: StoreEventDeps): ConsumerGroup {
  return {
    groupId: 'webhook-dispatcher.intake',
    topics: [TOPICS.chargesEvents, TOPICS.payoutsEvents],
    handlers: [
      ...Object.values(CHARGE_EVENTS).map((message) =>
        on(message, (event) => storeEvent(deps, event)),
      ),
      ...Object.values(DISPUTE_EVENTS).map((message) =>
        on(message, (event) => storeEvent(deps, event)),
      ),
      ...Object.values(PAYOUT_EVENTS).map((message) =>
        on(message, (event) => storeEvent(deps, event)),
      ),
    ],
  };
}
