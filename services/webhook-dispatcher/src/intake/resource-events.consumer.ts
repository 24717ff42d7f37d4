import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { CHARGE_EVENTS, DISPUTE_EVENTS } from '@pixmesh/contracts/messages/charge-event.v1';
import { PAYOUT_EVENTS } from '@pixmesh/contracts/messages/payout-event.v1';
import { on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/consumers';

import type { Intake } from './intake.ts';

/** Messages of one partition that may be in hand at once: enough to fill a batch. */
const IN_HAND_MAX = 200;

/**
 * Takes every catalogue event of charges, their disputes and payouts, and treats them alike; one group for all
 * processes with the role `intake`. Events go to the intake in their order and without waiting for each other, so that
 * a fetch becomes a batch.
 */
export function resourceEventsIntake({ take }: Intake): ConsumerGroup {
  return {
    ...CONSUMER_GROUPS.dispatcherIntake,
    handlers: [
      ...Object.values(CHARGE_EVENTS).map((message) => on(message, take)),
      ...Object.values(DISPUTE_EVENTS).map((message) => on(message, take)),
      ...Object.values(PAYOUT_EVENTS).map((message) => on(message, take)),
    ],
    concurrency: { max: IN_HAND_MAX },
    // Merchants see this pause: no delivery begins in it.
    shortPauses: true,
  };
}
