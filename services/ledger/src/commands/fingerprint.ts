import { hash } from 'node:crypto';

import { JOURNAL_KINDS } from '@pixmesh/contracts/internal/journal-kinds';
import { assertNever } from '@pixmesh/kernel/app-error';

import { type HoldCommand, isHoldCommand, type LedgerCommand } from './ledger-command.ts';

/** 128 bits in hexadecimal: enough to tell the contents of one id apart, in a quarter of a key's bytes. */
const FINGERPRINT_LENGTH = 32;

/**
 * Digest of what a command means. What may differ between two messages of one command does not count: event id, time,
 * application, and an end-to-end id that may become known between the two. Stored for ever: the list of a kind must not
 * change.
 */
export function fingerprintOf(command: LedgerCommand): string {
  return hash('sha256', JSON.stringify(meaningOf(command)), 'hex').slice(0, FINGERPRINT_LENGTH);
}

function meaningOf(command: LedgerCommand): readonly unknown[] {
  if (isHoldCommand(command)) return holdOf(command);
  const { accountId } = command;
  const kind = JOURNAL_KINDS[command.kind];
  const amount = String(command.amount);
  switch (command.kind) {
    case 'received_pix.credit':
      return ['credit', ...receivedPix(command), command.releaseAt];
    case 'received_pix.suspend':
      return ['suspend', ...receivedPix(command), command.reason];
    case 'pending.release':
      return [kind, accountId, command.creditId, amount];
    case 'payout_return.credit':
      return [kind, accountId, command.payoutId, command.endToEndId, command.returnId, amount];
    case 'payout.suspend':
      return [kind, accountId, command.payoutId, command.direction, amount, command.reason];
    case 'acquirer_tariff.book':
      return [kind, accountId, command.endToEndId, amount];
    case 'dispute.block':
    case 'dispute.unblock':
      return [kind, ...receivedPix(command), command.disputeId];
    case 'dispute.return':
      return [kind, ...receivedPix(command), command.disputeId, command.returnId, command.from];
    case 'received_pix.return':
      return [kind, ...receivedPix(command), command.returnId];
    case 'suspense.resolve':
      return [kind, ...receivedPix(command), command.itemId, command.action, ...payoutOf(command)];
    case 'suspense.credit':
      return [kind, ...receivedPix(command), command.itemId, ...payoutOf(command)];
    default:
      return assertNever(command);
  }
}

function holdOf(command: HoldCommand): readonly unknown[] {
  const { accountId, resourceId, holdId } = command;
  const kind = JOURNAL_KINDS[command.kind];
  if (command.kind !== 'hold.take') return [kind, accountId, holdId, resourceId];
  const { holdKind, amount, fee, endToEndId } = command;
  const money = [kind, accountId, resourceId, holdKind, String(amount), String(fee)];
  // Digests of payouts' holds were stored before refunds named their Pix.
  return endToEndId === null ? money : [...money, endToEndId];
}

function receivedPix(
  command: Extract<LedgerCommand, { endToEndId: string | null; chargeId: unknown }>,
) {
  return [command.accountId, command.endToEndId, command.chargeId, String(command.amount)];
}

/** Absent for a Pix in suspense: its digests were stored before payouts' items could be resolved. */
function payoutOf({ payoutId }: { payoutId: string | null }): string[] {
  return payoutId === null ? [] : [payoutId];
}
