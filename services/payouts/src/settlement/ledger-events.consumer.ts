import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { PAYOUT_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import {
  HoldEndRefused,
  HoldReleased,
  HoldSettled,
  SuspenseResolved,
} from '@pixmesh/contracts/messages/ledger-event.v1';
import { on } from '@pixmesh/kafka/message-handler';
import type { ConsumerGroup } from '@pixmesh/kafka/consumers';

import { outcomeHandlers } from '@pixmesh/ledger-client/outcome-handlers';

import { completeResolution } from '#suspense/resolutions.sql.ts';

import { applyLedgerEvent } from './apply-ledger-event.ts';
import type { SettlementDeps } from './settlement-deps.ts';

/**
 * Outcomes of one partition in hand at once: payouts do not wait for each other, and what comes together is moved
 * together.
 */
const IN_HAND_MAX = 64;
const COMMANDS = Object.keys(PAYOUT_COMMANDS) as (keyof typeof PAYOUT_COMMANDS)[];

/** Outcomes of ledger commands that concern payouts. */
export function ledgerEventsConsumer(deps: SettlementDeps): ConsumerGroup {
  return {
    ...CONSUMER_GROUPS.payoutsLedgerEvents,
    ...outcomeHandlers({ db: deps.db, commands: COMMANDS, holdKind: 'payout' }, [
      on(HoldSettled, ({ data }) => applyLedgerEvent(deps, toHold(data), { kind: 'settled' })),
      on(HoldReleased, ({ data }) => applyLedgerEvent(deps, toHold(data), { kind: 'released' })),
      on(HoldEndRefused, ({ data }) => {
        const { wanted, state } = data;
        return applyLedgerEvent(deps, toHold(data), { kind: 'end_refused', wanted, state });
      }),
      on(SuspenseResolved, ({ data }) => completeResolution(deps.db, data.item_id)),
    ]),
    concurrency: { max: IN_HAND_MAX },
  };
}

function toHold(data: { resource_id: string; hold_id: string }) {
  return { payoutId: data.resource_id, holdId: data.hold_id };
}
