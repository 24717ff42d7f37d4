import { CreditSuspense, ResolveSuspense } from '@pixmesh/contracts/messages/ledger-command.v1';
import { type AccountId, deriveCommandId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import { ledgerOrder } from '#charges/ledger-order.ts';

import type { SuspenseItem } from './suspense-item.ts';

/** Ends an item: whatever the action, its command has one id, so that the ledger ends it once for ever. */
function resolveCommand(
  item: SuspenseItem,
  action: 'accept' | 'hand_over' | 'return',
): OutboundEvent {
  const { place, envelope } = ledgerOrder({ accountId: item.ownerId });
  return outboundEvent(ResolveSuspense, place, {
    ...envelope,
    type: 'suspense.resolve',
    data: { ...dataOf(item), command_id: deriveCommandId('suspense.resolve', item.id), action },
  });
}

/** The money goes to its owner; what nobody owned is handed over to the account that an operator names. */
export function acceptCommands(item: SuspenseItem, accountId: AccountId): OutboundEvent[] {
  if (item.ownerId !== null) return [resolveCommand(item, 'accept')];
  const { place, envelope } = ledgerOrder({ accountId });
  const credit = outboundEvent(CreditSuspense, place, {
    ...envelope,
    type: 'suspense.credit',
    data: { ...dataOf(item), command_id: deriveCommandId('suspense.credit', item.id) },
  });
  return [resolveCommand(item, 'hand_over'), credit];
}

/** The acquirer has sent the money back to its payer. */
export function returnCommand(item: SuspenseItem): OutboundEvent {
  return resolveCommand(item, 'return');
}

function dataOf(item: SuspenseItem) {
  return {
    item_id: item.id,
    end_to_end_id: item.endToEndId,
    charge_id: item.chargeId,
    amount: item.amount,
  };
}
