import { PAYOUT_EVENTS } from '@pixmesh/contracts/messages/payout-event.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { sql } from '@pixmesh/postgres/sql';
import type { Check } from '@pixmesh/reconciliation/check';
import { deadLetterCheck } from '@pixmesh/reconciliation/dead-letter-check';
import { deliveryCheck, type DeliveryCheckDeps } from '@pixmesh/reconciliation/delivery-check';
import { outboxCheck } from '@pixmesh/reconciliation/outbox-check';

import { acquirerBalanceCheck, type AcquirerBalanceCheckDeps } from './acquirer-balance-check.ts';
import { holdCheck, type HoldCheckDeps } from './hold-check.ts';
import { payoutCheck, type PayoutCheckDeps } from './payout-check.ts';
import { settlementCheck, type SettlementCheckDeps } from './settlement-check.ts';

export type PayoutsChecksDeps = PayoutCheckDeps &
  HoldCheckDeps &
  SettlementCheckDeps &
  AcquirerBalanceCheckDeps &
  Omit<DeliveryCheckDeps, 'topic' | 'types'>;

/** What payouts answers for: money out, what is held for it, what lies at the acquirer, and its events. */
export function payoutsChecks(deps: PayoutsChecksDeps): Check[] {
  const counters = sql`select id, event_sequence from payouts`;
  return [
    payoutCheck(deps),
    holdCheck(deps),
    settlementCheck(deps),
    acquirerBalanceCheck(deps),
    deliveryCheck({
      ...deps,
      topic: TOPICS.payoutsEvents,
      types: Object.keys(PAYOUT_EVENTS),
    }),
    outboxCheck({ db: deps.db, numbered: { topic: TOPICS.payoutsEvents, counters } }),
    deadLetterCheck(deps),
  ];
}
