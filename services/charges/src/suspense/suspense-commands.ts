import { suspenseResolveCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import { type AccountId, deriveCommandId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';
import type { OutboundEvent } from '@pixmesh/postgres/events';

import { ledgerCommand } from '#charge/ledger-command.ts';

import type { LockedItem } from './lock-item.sql.ts';
import type { SuspenseItem } from './suspense-item.ts';

/** What an item ends with: the command that takes its money out, by its id, and whatever goes with it. */
export type EndOfItem = { commandId: string; commands: OutboundEvent[] };

/** What is left goes to its owner; without an owner it goes to the account that an operator names. */
export function acceptCommands({ item, left }: LockedItem, accountId: AccountId): EndOfItem {
  const commandId = suspenseResolveCommandId(item.id);
  if (item.ownerId !== null) {
    const accept = suspenseResolve(item, { commandId, amount: left, action: 'accept' });
    return { commandId, commands: [accept] };
  }
  const takeOut = suspenseResolve(item, { commandId, amount: left, action: 'hand_over' });
  const credit = ledgerCommand(
    'suspense.credit',
    { accountId },
    { ...dataOf(item, left), command_id: suspenseCreditCommandId(item.id) },
  );
  return { commandId, commands: [takeOut, credit] };
}

/** The acquirer has sent it back to its payer, or a part of it. */
export function itemReturnCommand(
  { item, left }: LockedItem,
  returned: { id: string; amountCents: Cents },
): EndOfItem & { isPart: boolean } {
  const isPart = returned.amountCents !== item.amount || left !== item.amount;
  const commandId = isPart
    ? suspensePartCommandId(item.endToEndId, returned.id)
    : suspenseResolveCommandId(item.id);
  const what = { commandId, amount: returned.amountCents, action: 'return' } as const;
  return { commandId, commands: [suspenseResolve(item, what)], isPart };
}

/** A return of a part has an id of its own. */
export function suspensePartCommandId(endToEndId: string, returnId: string): string {
  return deriveCommandId('suspense.return', `${endToEndId}/${returnId}`);
}

/** The one command that credits an item without an owner to the account that an operator named. */
export function suspenseCreditCommandId(itemId: string): string {
  return deriveCommandId('suspense.credit', itemId);
}

function suspenseResolve(
  item: SuspenseItem,
  what: { commandId: string; amount: Cents; action: 'accept' | 'hand_over' | 'return' },
): OutboundEvent {
  const { commandId: command_id, amount, action } = what;
  const data = { ...dataOf(item, amount), command_id, action };
  return ledgerCommand('suspense.resolve', { accountId: item.ownerId }, data);
}

function dataOf(item: SuspenseItem, amount: Cents) {
  const { id: item_id, endToEndId: end_to_end_id, chargeId: charge_id } = item;
  return { item_id, end_to_end_id, charge_id, amount };
}
