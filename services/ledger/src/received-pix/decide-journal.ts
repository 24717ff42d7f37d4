import {
  ReceivedPixCredited,
  ReceivedPixSuspended,
} from '@pixmesh/contracts/messages/ledger-event.v1';
import { newId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import type { LockedAccounts } from '#accounts/accounts.sql.ts';
import { type AccountKind, PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import type { NewJournal } from '#journals/journals.sql.ts';
import { type Posting, TEMPLATES } from '#journals/templates.ts';

import { fingerprintOf, type ReceivedPixCommand } from './received-pix-command.ts';

/** Cents of the parts that an outcome reports. */
type Balance = { available: bigint; pending: bigint };

/** The accounts a command may move or report. */
export function accountsOf(command: ReceivedPixCommand): readonly AccountKind[] {
  const reported = ['available', 'pending', 'acquirer_clearing'] as const;
  return command.disposition.kind === 'suspend' ? [...reported, 'suspense'] : reported;
}

/** The journal of a command, given its accounts as they stand: postings, outcome and event. */
export function decideJournal(command: ReceivedPixCommand, accounts: LockedAccounts): NewJournal {
  const { accountId, amount, disposition } = command;
  const release = releaseOf(command, accounts.now);
  const postings = postingsOf(command, release !== null);
  const balance = balanceAfter(accounts, postings);
  const id = newId();
  const event = outcomeEvent(command, { journalId: id, balance, now: accounts.now });
  return {
    id,
    commandId: command.commandId,
    fingerprint: fingerprintOf(command),
    kind: disposition.kind === 'credit' ? 'credit_received_pix' : 'suspend_received_pix',
    accountId,
    resourceId: command.chargeId,
    postings,
    outcome: {
      event_id: event.eventId,
      type: event.type,
      balance: { available: Number(balance.available), pending: Number(balance.pending) },
    },
    event,
    suspense:
      disposition.kind === 'suspend'
        ? { endToEndId: command.endToEndId, amount, reason: disposition.reason }
        : null,
    release,
  };
}

/** When the money becomes available; null for at once, which a time that has passed means too (decision 133). */
function releaseOf(command: ReceivedPixCommand, now: Date): NewJournal['release'] {
  if (command.disposition.kind !== 'credit') return null;
  const at = command.disposition.releaseAt;
  return at !== null && at.getTime() > now.getTime() ? { amount: command.amount, at } : null;
}

function postingsOf(command: ReceivedPixCommand, isDelayed: boolean): readonly Posting[] {
  const { accountId, amount, disposition } = command;
  if (disposition.kind === 'suspend') return TEMPLATES.suspendReceivedPix(accountId, amount);
  return isDelayed
    ? TEMPLATES.creditReceivedPixPending(accountId, amount)
    : TEMPLATES.creditReceivedPix(accountId, amount);
}

function balanceAfter(accounts: LockedAccounts, postings: readonly Posting[]): Balance {
  return { available: partAfter('available'), pending: partAfter('pending') };

  function partAfter(kind: AccountKind): bigint {
    const moved = postings.filter((posting) => posting.kind === kind);
    return moved.reduce((sum, { amount }) => sum + amount, accounts.balances.get(kind) ?? 0n);
  }
}

/** Keyed by the owner, so that an account's outcomes keep the order of its journals. */
function outcomeEvent(
  command: ReceivedPixCommand,
  result: { journalId: string; balance: Balance; now: Date },
): OutboundEvent {
  const place = { key: command.accountId, sequence: null };
  const envelope = {
    event_id: newId(),
    version: 1 as const,
    occurred_at: result.now.toISOString(),
    account_id: command.accountId === PLATFORM_ACCOUNT_ID ? null : command.accountId,
    application_id: command.applicationId,
    data: {
      command_id: command.commandId,
      journal_id: result.journalId,
      end_to_end_id: command.endToEndId,
      charge_id: command.chargeId,
      amount: command.amount,
      balance: result.balance,
    },
  };
  return command.disposition.kind === 'credit'
    ? outboundEvent(ReceivedPixCredited, place, { ...envelope, type: 'received_pix.credited' })
    : outboundEvent(ReceivedPixSuspended, place, { ...envelope, type: 'received_pix.suspended' });
}
