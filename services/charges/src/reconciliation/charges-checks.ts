import { CHARGE_EVENTS, DISPUTE_EVENTS } from '@pixmesh/contracts/messages/charge-event.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { sql } from '@pixmesh/postgres/sql';
import type { Check } from '@pixmesh/reconciliation/check';
import { deadLetterCheck } from '@pixmesh/reconciliation/dead-letter-check';
import { deliveryCheck, type DeliveryCheckDeps } from '@pixmesh/reconciliation/delivery-check';
import { outboxCheck } from '@pixmesh/reconciliation/outbox-check';

import { chargeStateCheck, type ChargeStateCheckDeps } from './charge-state-check.ts';
import { creditCheck, type CreditCheckDeps } from './credit-check.ts';
import { disputeCheck, type DisputeCheckDeps } from './dispute-check.ts';
import { historyCheck } from './history-check.ts';
import { receivedCheck, type ReceivedCheckDeps } from './received-check.ts';
import { refundCheck, type RefundCheckDeps } from './refund-check.ts';

const EVENT_TYPES = [...Object.keys(CHARGE_EVENTS), ...Object.keys(DISPUTE_EVENTS)];

export type ChargesChecksDeps = ReceivedCheckDeps &
  CreditCheckDeps &
  ChargeStateCheckDeps &
  DisputeCheckDeps &
  RefundCheckDeps &
  Omit<DeliveryCheckDeps, 'topic' | 'types'>;

/** What charges answers for: money in, its credits, its events. */
export function chargesChecks(deps: ChargesChecksDeps): Check[] {
  const counters = sql`select id, event_sequence from charges`;
  return [
    receivedCheck(deps),
    creditCheck(deps),
    disputeCheck(deps),
    refundCheck(deps),
    historyCheck(deps),
    deliveryCheck({ ...deps, topic: TOPICS.chargesEvents, types: EVENT_TYPES }),
    outboxCheck({ db: deps.db, numbered: { topic: TOPICS.chargesEvents, counters } }),
    deadLetterCheck(deps),
    // The last: in a full run it asks the acquirer for each charge, which may take longer than its process lives.
    chargeStateCheck(deps),
  ];
}
