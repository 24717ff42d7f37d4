import assert from 'node:assert';

import {
  AcquirerTariffBooked,
  DisputeBlocked,
  DisputeReturned,
  DisputeUnblocked,
  HOLD_KIND_HEADER,
  HoldEndRefused,
  HoldReleased,
  HoldSettled,
  PayoutReturnCredited,
  PayoutSuspended,
  ReceivedPixCredited,
  ReceivedPixReturned,
  ReceivedPixSuspended,
  SuspenseCredited,
  SuspenseResolved,
} from '@pixmesh/contracts/messages/ledger-event.v1';
import type { MessageType } from '@pixmesh/contracts/messages/message-type';
import { assertNever } from '@pixmesh/kernel/app-error';
import { deriveTimedId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';
import type { z } from 'zod';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import type {
  DisputeBlock,
  SuspenseCredit,
  HoldRelease,
  SuspenseResolve,
  DisputeReturn,
  HoldSettle,
  DisputeUnblock,
} from '#commands/ledger-command.ts';
import type { Hold } from '#commands/outcome.ts';
import type { EventWrite } from '#decisions/batch-state.ts';

/** What an event holds beside command, journal and balance. */
type OutcomeMessage = { message: MessageType<z.ZodObject>; data: object };

/**
 * The event of an outcome, keyed by the owner, so that an account's outcomes keep the order of its journals. It goes
 * on in the trace of its command.
 */
export function outcomeEvent(write: EventWrite): OutboundEvent {
  const { command, balances } = write;
  const { message, data } = messageOf(write);
  const holdKind = write.hold?.kind;
  const event = outboundEvent(
    message,
    {
      key: command.accountId,
      sequence: null,
      ...(holdKind && { headers: { [HOLD_KIND_HEADER]: holdKind } }),
    },
    {
      event_id: outcomeEventId(command.commandId, write.occurredAtMs),
      type: message.type,
      version: 1,
      occurred_at: new Date(write.occurredAtMs).toISOString(),
      account_id: command.accountId === PLATFORM_ACCOUNT_ID ? null : command.accountId,
      application_id: command.applicationId ?? null,
      data: {
        command_id: command.commandId,
        journal_id: command.commandId,
        ...data,
        balance: balances,
      },
    },
  );
  return { ...event, traceparent: command.traceparent ?? null };
}

/**
 * A command has one outcome, which is published under one id: that of its journal's time and its own id. So the event
 * is found again without being stored beside the journal.
 */
export function outcomeEventId(commandId: string, decidedAtMs: number): string {
  return deriveTimedId(decidedAtMs, Buffer.from(commandId.replaceAll('-', ''), 'hex'));
}

function messageOf({ command, code, hold, moved }: EventWrite): OutcomeMessage {
  if ('disputeId' in command) return disputed(command, moved);
  switch (command.kind) {
    case 'hold.settle':
    case 'hold.release':
      return holdEnded(command, code, hold);
    case 'received_pix.credit':
      return { message: ReceivedPixCredited, data: receivedPix(command) };
    case 'received_pix.suspend':
      return { message: ReceivedPixSuspended, data: receivedPix(command) };
    case 'payout_return.credit':
      return {
        message: PayoutReturnCredited,
        data: {
          payout_id: command.payoutId,
          end_to_end_id: command.endToEndId,
          return_id: command.returnId,
          amount: command.amount,
        },
      };
    case 'payout.suspend': {
      const { payoutId: payout_id, direction, amount, reason } = command;
      return { message: PayoutSuspended, data: { payout_id, direction, amount, reason } };
    }
    case 'acquirer_tariff.book': {
      const { endToEndId: end_to_end_id, amount } = command;
      return { message: AcquirerTariffBooked, data: { end_to_end_id, amount } };
    }
    case 'received_pix.return':
      return {
        message: ReceivedPixReturned,
        data: { ...receivedPix(command), return_id: command.returnId },
      };
    case 'suspense.resolve':
      return {
        message: SuspenseResolved,
        data: { ...suspenseItem(command), action: command.action },
      };
    case 'suspense.credit':
      return {
        message: SuspenseCredited,
        data: suspenseItem(command),
      };
    case 'hold.take':
    case 'hold.void':
    case 'pending.release':
      return assert.fail(`${command.kind} publishes nothing`);
    default:
      return assertNever(command);
  }
}

function holdEnded(
  command: HoldSettle | HoldRelease,
  code: EventWrite['code'],
  hold: Hold | null,
): OutcomeMessage {
  assert(hold, 'the end of a hold shows the hold');
  const { holdId, resourceId, amount, fee, state } = hold;
  const data = { hold_id: holdId, resource_id: resourceId, amount, fee };
  const settles = command.kind === 'hold.settle';
  if (code !== 'booked' && code !== 'noted') {
    const wanted = settles ? 'settled' : 'released';
    return { message: HoldEndRefused, data: { ...data, wanted, state } };
  }
  return { message: settles ? HoldSettled : HoldReleased, data };
}

function suspenseItem(command: SuspenseResolve | SuspenseCredit): object {
  const { itemId: item_id, payoutId: payout_id } = command;
  return { ...receivedPix(command), item_id, payout_id };
}

function receivedPix(pix: {
  endToEndId: string | null;
  chargeId: string | null;
  amount: bigint;
}): object {
  return { end_to_end_id: pix.endToEndId, charge_id: pix.chargeId, amount: pix.amount };
}

/** With what moved, which may be nothing. */
function disputed(
  command: DisputeBlock | DisputeUnblock | DisputeReturn,
  amount: bigint,
): OutcomeMessage {
  const { disputeId: dispute_id, chargeId: charge_id } = command;
  const data = { dispute_id, charge_id, amount };
  switch (command.kind) {
    case 'dispute.block':
      return { message: DisputeBlocked, data };
    case 'dispute.unblock':
      return { message: DisputeUnblocked, data };
    case 'dispute.return':
      return { message: DisputeReturned, data: { ...data, return_id: command.returnId } };
    default:
      return assertNever(command);
  }
}
