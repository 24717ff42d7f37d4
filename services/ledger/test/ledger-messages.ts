import type { LEDGER_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { deriveCommandId, newId } from '@pixmesh/kernel/ids';
import type { z } from 'zod';

import { ledgerCommandsConsumer } from '#ledger-commands.consumer.ts';
import type { LedgerEngine } from '#engine/ledger-engine.ts';

type Types = typeof LEDGER_COMMANDS;
export type CommandWire = { [Type in keyof Types]: z.input<Types[Type]['schema']> }[keyof Types];
export type ReceivedPixCreditWire = Extract<CommandWire, { type: 'received_pix.credit' }>;
export type ReceivedPixSuspendWire = Extract<CommandWire, { type: 'received_pix.suspend' }>;

/** What tests vary of a command of a received Pix; the rest is valid and random. */
type Changes = {
  accountId?: string | null;
  endToEndId?: string;
  chargeId?: string | null;
  amount?: number;
};

/** A credit as it stands on the topic. */
export function aReceivedPixCredit(
  changes: Changes & { releaseAt?: Date | null } = {},
): ReceivedPixCreditWire {
  return {
    ...envelope(changes.accountId),
    type: 'received_pix.credit',
    data: { ...receivedPix(changes), release_at: changes.releaseAt?.toISOString() ?? null },
  };
}

/** A suspense booking as it stands on the topic. */
export function aReceivedPixSuspend(
  changes: Changes & { reason?: ReceivedPixSuspendWire['data']['reason'] } = {},
): ReceivedPixSuspendWire {
  return {
    ...envelope(changes.accountId),
    type: 'received_pix.suspend',
    data: { ...receivedPix(changes), reason: changes.reason ?? 'amount_mismatch' },
  };
}

export type HoldRef = { accountId: string; holdId: string; resourceId: string };

/** The settlement of a hold as it stands on the topic. */
export function aHoldSettle(hold: HoldRef): Extract<CommandWire, { type: 'hold.settle' }> {
  const command_id = deriveCommandId('hold_settle', hold.holdId);
  return {
    ...envelope(hold.accountId),
    type: 'hold.settle',
    data: { command_id, ...holdEnd(hold), end_to_end_id: anEndToEndId() },
  };
}

/** The release of a hold as it stands on the topic. */
export function aHoldRelease(hold: HoldRef): Extract<CommandWire, { type: 'hold.release' }> {
  const command_id = deriveCommandId('hold_release', hold.holdId);
  return {
    ...envelope(hold.accountId),
    type: 'hold.release',
    data: { command_id, ...holdEnd(hold) },
  };
}

/** What the acquirer did against the end of a payout. */
export function aPayoutSuspend(changes: {
  accountId?: string | null;
  direction: 'in' | 'out';
  amount?: number;
}): Extract<CommandWire, { type: 'payout.suspend' }> {
  const payoutId = newId();
  const isForeign = changes.accountId === null;
  const contradiction =
    changes.direction === 'out' ? 'completed_after_failed' : 'failed_after_completed';
  const reason = isForeign ? 'foreign_send' : contradiction;
  return {
    ...envelope(changes.accountId),
    type: 'payout.suspend',
    data: {
      command_id: deriveCommandId('payout_suspend', `${payoutId}:${reason}`),
      payout_id: isForeign ? null : payoutId,
      end_to_end_id: anEndToEndId(),
      direction: changes.direction,
      amount: changes.amount ?? 1_000,
      reason,
    },
  };
}

type DisputeType = 'dispute.block' | 'dispute.unblock' | 'dispute.return';
type PixOf = { accountId: string; endToEndId: string; chargeId: string; amount: number };

/** A step of a dispute as it stands on the topic. */
export function aDispute<Type extends DisputeType>(
  type: Type,
  details: PixOf & { disputeId: string; from?: 'blocked' | 'available'; returnId?: string },
): Extract<CommandWire, { type: Type }> {
  const { disputeId, endToEndId, returnId = newId(), from = 'blocked' } = details;
  const isReturn = type === 'dispute.return';
  const key = isReturn ? `${endToEndId}/${returnId}` : disputeId;
  const data = {
    command_id: deriveCommandId(type, key),
    dispute_id: disputeId,
    ...ofPix(details),
    ...(isReturn ? { from, return_id: returnId } : {}),
  };
  // The compiler does not see that the words of a type go with its data.
  return { ...envelope(details.accountId), type, data } as Extract<CommandWire, { type: Type }>;
}

/** What went back without an order of ours, as it stands on the topic. */
export function aReceivedPixReturn(
  details: PixOf,
): Extract<CommandWire, { type: 'received_pix.return' }> {
  const return_id = newId();
  const command_id = deriveCommandId('received_pix.return', `${details.endToEndId}/${return_id}`);
  return {
    ...envelope(details.accountId),
    type: 'received_pix.return',
    data: { command_id, ...ofPix(details), return_id },
  };
}

/** The end of an item of suspense as it stands on the topic. */
export function aSuspenseResolve(
  item: ReceivedPixSuspendWire,
  action: 'accept' | 'hand_over' | 'return',
): Extract<CommandWire, { type: 'suspense.resolve' }> {
  const command_id = deriveCommandId('suspense.resolve', item.data.command_id);
  return {
    ...envelope(item.account_id),
    type: 'suspense.resolve',
    data: { command_id, ...itemOf(item), action },
  };
}

/** What was handed over goes to its owner. */
export function aSuspenseCredit(
  item: ReceivedPixSuspendWire,
  accountId: string,
): Extract<CommandWire, { type: 'suspense.credit' }> {
  const command_id = deriveCommandId('suspense.credit', item.data.command_id);
  return {
    ...envelope(accountId),
    type: 'suspense.credit',
    data: { command_id, ...itemOf(item) },
  };
}

/** The same command again, as a republished or re-decided message would. */
export function again<Message extends CommandWire>(message: Message): Message {
  return { ...message, event_id: newId(), occurred_at: new Date().toISOString() };
}

/** Gives a message to the service's own consumer, as the broker would. */
export async function handle(
  engine: Pick<LedgerEngine, 'submit'>,
  message: CommandWire,
): Promise<void> {
  const { handlers } = ledgerCommandsConsumer({ engine, republishOutcome: async () => undefined });
  const handler = handlers.find((candidate) => candidate.message.type === message.type);
  if (!handler) throw new Error(`nobody handles ${message.type}`);
  await handler.handle(message);
}

/** An end-to-end id in the form of the Central Bank. */
export function anEndToEndId(): string {
  return `E12345678202611211200${newId().replaceAll('-', '').slice(-11)}`;
}

function envelope(accountId?: string | null) {
  return {
    event_id: newId(),
    version: 1 as const,
    occurred_at: new Date().toISOString(),
    account_id: accountId === undefined ? newId() : accountId,
    application_id: null,
  };
}

function receivedPix(changes: Changes) {
  const endToEndId = changes.endToEndId ?? anEndToEndId();
  return {
    command_id: deriveCommandId('received_pix', endToEndId),
    end_to_end_id: endToEndId,
    charge_id: changes.chargeId === undefined ? newId() : changes.chargeId,
    amount: changes.amount ?? 1_000,
  };
}

function ofPix({ endToEndId, chargeId, amount }: PixOf) {
  return { charge_id: chargeId, end_to_end_id: endToEndId, amount };
}

function itemOf({ data }: ReceivedPixSuspendWire) {
  const { command_id: item_id, end_to_end_id, charge_id, amount } = data;
  return { item_id, end_to_end_id, charge_id, amount };
}

function holdEnd({ holdId, resourceId }: HoldRef) {
  return { hold_id: holdId, resource_id: resourceId };
}
