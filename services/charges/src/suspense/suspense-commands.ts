import { SuspenseCredit, SuspenseResolve } from '@pixmesh/contracts/messages/ledger-command.v1';
import { type AccountId, deriveCommandId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import { ledgerOrder } from '#charge/ledger-command.ts';

import type { LockedItem } from './lock-item.sql.ts';
import type { SuspenseItem } from './suspense-item.ts';

/** What an item ends with: the command that takes its money out, by its id, and whatever goes with it. */
export type EndOfItem = { commandId: string; commands: OutboundEvent[] };

/** Whatever takes an item as a whole has one id, so that the ledger does it once for ever. */
export function wholeItemCommandId(itemId: string): string {
  return deriveCommandId('suspense.resolve', itemId);
}

/** A return of a part has an id of its own. */
export function partCommandId(endToEndId: string, returnId: string): string {
  return deriveCommandId('suspense.return', `${endToEndId}/${returnId}`);
}

/** The one command that credits what nobody owned to the account that it was handed over to. */
export function handOverCreditIdOf(itemId: string): string {
  return deriveCommandId('suspense.credit', itemId);
}

/** What is left goes to its owner; what nobody owned is handed over to the account that an operator names. */
export function acceptCommands({ item, left }: LockedItem, accountId: AccountId): EndOfItem {
  const commandId = wholeItemCommandId(item.id);
  if (item.ownerId !== null) {
    const accept = resolveCommand(item, { commandId, amount: left, action: 'accept' });
    return { commandId, commands: [accept] };
  }
  const handOver = resolveCommand(item, { commandId, amount: left, action: 'hand_over' });
  const { place, envelope } = ledgerOrder({ accountId });
  const credit = outboundEvent(SuspenseCredit, place, {
    ...envelope,
    type: 'suspense.credit',
    data: { ...dataOf(item, left), command_id: handOverCreditIdOf(item.id) },
  });
  return { commandId, commands: [handOver, credit] };
}

/** The acquirer has sent it back to its payer, or a part of it. */
export function returnCommand(
  { item, left }: LockedItem,
  returned: { id: string; amountCents: Cents },
): EndOfItem & { isPart: boolean } {
  const isPart = returned.amountCents !== item.amount || left !== item.amount;
  const commandId = isPart
    ? partCommandId(item.endToEndId, returned.id)
    : wholeItemCommandId(item.id);
  const what = { commandId, amount: returned.amountCents, action: 'return' } as const;
  return { commandId, commands: [resolveCommand(item, what)], isPart };
}

function resolveCommand(
  item: SuspenseItem,
  what: { commandId: string; amount: Cents; action: 'accept' | 'hand_over' | 'return' },
): OutboundEvent {
  const { place, envelope } = ledgerOrder({ accountId: item.ownerId });
  const { commandId: command_id, amount, action } = what;
  return outboundEvent(SuspenseResolve, place, {
    ...envelope,
    type: 'suspense.resolve',
    data: { ...dataOf(item, amount), command_id, action },
  });
}

function dataOf(item: SuspenseItem, amount: Cents) {
  const { id: item_id, endToEndId: end_to_end_id, chargeId: charge_id } = item;
  return { item_id, end_to_end_id, charge_id, amount };
}
