import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import {
  HoldEndRefused,
  HoldReleased,
  HoldSettled,
  SuspenseResolved,
} from '@pixmesh/contracts/messages/ledger-event.v1';
import { on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/messaging';

import { outcomeHandlers } from '@pixmesh/ledger-client/outcome-handlers';

import { completeResolution } from '#suspense/resolutions.sql.ts';

import { applyLedgerEvent } from './apply-ledger-event.ts';
import type { SettlementDeps } from './settlement-deps.ts';

/** Outcomes of ledger commands that concern payouts. */
export function ledgerEventsConsumer(deps: SettlementDeps): ConsumerGroup {
  return {
    ...CONSUMER_GROUPS.payoutsLedgerEvents,
    handlers: outcomeHandlers(deps.db, [
      on(HoldSettled, ({ data }) => applyLedgerEvent(deps, toHold(data), { kind: 'settled' })),
      on(HoldReleased, ({ data }) => applyLedgerEvent(deps, toHold(data), { kind: 'released' })),
      on(HoldEndRefused, ({ data }) => {
        const { wanted, state } = data;
        return applyLedgerEvent(deps, toHold(data), { kind: 'end_refused', wanted, state });
      }),
      on(SuspenseResolved, ({ data }) => completeResolution(deps.db, data.item_id)),
    ]),
  };
}

function toHold(data: { resource_id: string; hold_id: string }) {
  return { payoutId: data.resource_id, holdId: data.hold_id };
}
