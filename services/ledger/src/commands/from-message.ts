import type { LEDGER_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { AppError } from '@pixmesh/kernel/app-error';
import type { AccountId, ApplicationId, ChargeId, HoldId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';
import type { z } from 'zod';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';

import type { LedgerCommand } from './ledger-command.ts';

export type CommandMessageType = keyof typeof LEDGER_COMMANDS;
type Message<Type extends CommandMessageType> = z.output<(typeof LEDGER_COMMANDS)[Type]['schema']>;

/**
 * What each message of the topic means as a command. Ids become lower case, as which they are stored and compared.
 * A message without an account concerns the platform's own money, which only some commands may move.
 */
export const FROM_MESSAGE: {
  [Type in CommandMessageType]: (message: Message<Type>) => LedgerCommand;
} = {
  'received_pix.credit': (message) => ({
    ...ofAccount(message),
    ...receivedPix(message.data),
    releaseAt: message.data.release_at === null ? null : new Date(message.data.release_at),
  }),
  'received_pix.suspend': (message) => ({
    ...ofAnyone(message),
    ...receivedPix(message.data),
    reason: message.data.reason,
  }),
  'received_pix.return': (message) => ({
    ...ofAccount(message),
    chargeId: lower<ChargeId>(message.data.charge_id),
    endToEndId: message.data.end_to_end_id,
    returnId: message.data.return_id,
    amount: toCents(message.data.amount),
  }),
  'suspense.resolve': (message) => ({
    ...ofSuspenseOwner(message),
    ...suspenseItem(message.data),
    action: message.data.action,
  }),
  'suspense.credit': (message) => ({
    ...ofAccount(message),
    ...suspenseItem(message.data),
  }),
  'hold.settle': (message) => ({
    ...ofAccount(message),
    ...holdEnd(message.data),
    endToEndId: message.data.end_to_end_id,
  }),
  'hold.release': (message) => ({
    ...ofAccount(message),
    ...holdEnd(message.data),
  }),
  'payout_return.credit': (message) => ({
    ...ofAccount(message),
    payoutId: lower(message.data.payout_id),
    endToEndId: message.data.end_to_end_id,
    returnId: message.data.return_id,
    amount: toCents(message.data.amount),
  }),
  'payout.suspend': (message) => ({
    ...ofAnyone(message),
    payoutId: message.data.payout_id === null ? null : lower(message.data.payout_id),
    endToEndId: message.data.end_to_end_id,
    direction: message.data.direction,
    amount: toCents(message.data.amount),
    reason: message.data.reason,
  }),
  'acquirer_tariff.book': (message) => ({
    ...ofAnyone(message),
    endToEndId: message.data.end_to_end_id,
    amount: toCents(message.data.amount),
  }),
  'dispute.block': (message) => ({
    ...ofAccount(message),
    ...disputed(message.data),
  }),
  'dispute.unblock': (message) => ({
    ...ofAccount(message),
    ...disputed(message.data),
  }),
  'dispute.return': (message) => ({
    ...ofAccount(message),
    ...disputed(message.data),
    from: message.data.from,
    returnId: message.data.return_id,
  }),
};

type Envelope<Type> = {
  type: Type;
  account_id: string | null;
  application_id: string | null;
  data: { command_id: string };
};

/** @throws AppError `MESSAGE_INVALID` without an account: money without an account cannot be spent, held or disputed */
function ofAccount<Type extends CommandMessageType>(message: Envelope<Type>) {
  if (message.account_id === null) {
    throw new AppError('MESSAGE_INVALID', { message: `${message.type} without an account` });
  }
  return ofAnyone(message);
}

/**
 * The owner of an item accepts it; an item of the platform is handed over to the account that it belongs to.
 * @throws AppError `MESSAGE_INVALID` otherwise: money would be the platform's, or vanish from its owner's books
 */
function ofSuspenseOwner(message: Message<'suspense.resolve'>) {
  const { action } = message.data;
  if (action === 'accept') return ofAccount(message);
  if (action === 'hand_over' && message.account_id !== null) {
    throw new AppError('MESSAGE_INVALID', { message: 'hand_over of what has an owner' });
  }
  return ofAnyone(message);
}

function ofAnyone<Type extends CommandMessageType>(message: Envelope<Type>) {
  const { type: kind, account_id, application_id, data } = message;
  return {
    kind,
    commandId: lower(data.command_id),
    accountId: account_id === null ? PLATFORM_ACCOUNT_ID : lower<AccountId>(account_id),
    applicationId: application_id === null ? null : lower<ApplicationId>(application_id),
    traceparent: currentTraceParent(),
  };
}

type PixData<EndToEndId> = {
  end_to_end_id: EndToEndId;
  charge_id: string | null;
  amount: bigint;
};

function receivedPix<EndToEndId extends string | null>(data: PixData<EndToEndId>) {
  return {
    endToEndId: data.end_to_end_id,
    chargeId: data.charge_id === null ? null : lower<ChargeId>(data.charge_id),
    amount: toCents(data.amount),
  };
}

function suspenseItem({
  item_id,
  payout_id,
  ...data
}: Pick<Message<'suspense.resolve'>['data'], 'item_id' | 'payout_id'> & PixData<string | null>) {
  const payoutId = payout_id ? lower(payout_id) : null;
  return { itemId: lower(item_id), ...receivedPix(data), payoutId };
}

function holdEnd(data: { hold_id: string; resource_id: string }) {
  return { holdId: lower<HoldId>(data.hold_id), resourceId: lower(data.resource_id) };
}

function disputed(data: {
  dispute_id: string;
  charge_id: string;
  end_to_end_id: string;
  amount: bigint;
}) {
  return {
    disputeId: lower(data.dispute_id),
    chargeId: lower<ChargeId>(data.charge_id),
    endToEndId: data.end_to_end_id,
    amount: toCents(data.amount),
  };
}

function lower<Id extends string>(id: string): Id {
  return id.toLowerCase() as Id;
}
