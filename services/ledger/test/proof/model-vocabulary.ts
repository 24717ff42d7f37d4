import type { AccountId, ChargeId, HoldId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { Outcome } from '#commands/outcome.ts';
import type { OracleCommand } from '#test/oracle-books.ts';

/** What the service answered, in the words of the oracle. */
export type Reply = { word: string; isRejected: boolean; isFirst: boolean; version: number | null };

export function toReply(outcome: Outcome): Reply {
  if (outcome.kind === 'rejected') {
    return { word: outcome.reason, isRejected: true, isFirst: false, version: null };
  }
  const { code, repeated, version } = outcome;
  return {
    word: code,
    isRejected: false,
    isFirst: !repeated,
    version: version === null ? null : Number(version),
  };
}

/** The same command in the words of the service. */
export function toLedgerCommand(command: OracleCommand): LedgerCommand {
  const named = { commandId: command.id, accountId: command.accountId as AccountId };
  if ('holdId' in command) return toHoldCommand(named, command);
  if (command.kind !== 'pending.release') return toMovement(named, command);
  const { creditId, amount } = command;
  return { ...named, kind: 'pending.release', creditId, amount: toCents(amount) };
}

function toHoldCommand(
  named: Named,
  command: Extract<OracleCommand, { holdId: string }>,
): LedgerCommand {
  const hold = { ...named, ...holdOf(command) };
  if (command.kind !== 'hold.take') {
    if (command.kind === 'hold.void') return { ...hold, kind: 'hold.void' };
    if (command.kind === 'hold.release') return { ...hold, kind: 'hold.release' };
    return { ...hold, kind: 'hold.settle', endToEndId: null };
  }
  return {
    ...hold,
    kind: 'hold.take',
    holdKind: command.pix === null ? 'payout' : 'refund',
    endToEndId: command.pix,
    amount: toCents(command.amount),
    fee: toCents(command.fee),
  };
}

function holdOf({ holdId, resourceId }: { holdId: string; resourceId: string }) {
  return { holdId: holdId as HoldId, resourceId };
}

type Named = { commandId: string; accountId: AccountId };
type Movement = Exclude<OracleCommand, { holdId: string } | { kind: 'pending.release' }>;

function toMovement(named: Named, command: Movement): LedgerCommand {
  const details = { ...named, endToEndId: command.subject, amount: toCents(command.amount) };
  const chargeId = command.subject as ChargeId;
  switch (command.kind) {
    case 'received_pix.credit': {
      const releaseAt = command.releaseAtMs === null ? null : new Date(command.releaseAtMs);
      return { ...details, kind: 'received_pix.credit', chargeId, releaseAt };
    }
    case 'received_pix.suspend':
      return { ...details, kind: 'received_pix.suspend', chargeId, reason: 'late' };
    case 'payout_return.credit':
      return {
        ...details,
        kind: 'payout_return.credit',
        payoutId: command.subject,
        returnId: command.subject,
      };
    case 'acquirer_tariff.book':
      return { ...details, kind: 'acquirer_tariff.book' };
    case 'payout.suspend':
      return {
        ...details,
        kind: 'payout.suspend',
        payoutId: command.subject,
        direction: command.direction,
        reason: 'foreign_send',
      };
    case 'dispute.block':
    case 'dispute.unblock':
      return {
        ...details,
        kind: command.kind,
        disputeId: command.dispute,
        chargeId,
      };
    case 'dispute.return':
      return {
        ...details,
        kind: 'dispute.return',
        disputeId: command.dispute,
        chargeId,
        from: command.from,
        returnId: command.id,
      };
    case 'received_pix.return':
      return { ...details, kind: 'received_pix.return', chargeId, returnId: command.id };
    case 'suspense.resolve': {
      const { item: itemId, action } = command;
      return { ...details, kind: 'suspense.resolve', chargeId, payoutId: null, itemId, action };
    }
    case 'suspense.credit':
      return {
        ...details,
        kind: 'suspense.credit',
        chargeId,
        payoutId: null,
        itemId: command.item,
      };
    default:
      throw new Error('unknown kind of command');
  }
}
