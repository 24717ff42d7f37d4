import { assertNever } from '@pixmesh/kernel/app-error';

import { fingerprintOf } from '#commands/fingerprint.ts';
import { isHoldCommand, type LedgerCommand } from '#commands/ledger-command.ts';
import type { DecidedCommand, Outcome } from '#commands/outcome.ts';

import { BatchDraft } from './batch-draft.ts';
import type { BatchState, BatchWrites } from './batch-state.ts';
import { decideDispute } from './decide-dispute.ts';
import { decideHold } from './decide-hold.ts';
import { decideMovement } from './decide-movement.ts';
import { decideSuspense } from './decide-suspense.ts';

export type BatchDecision = {
  /** One for each command, in their order. */
  outcomes: Outcome[];
  writes: BatchWrites;
};

/**
 * Decides a batch in the order of its commands, each on top of those before it, from what stood while its owners were
 * locked. No I/O, no clock: the same state and commands always give the same decision. A command that was decided
 * before is answered its first outcome and changes nothing, whether that was years ago or earlier in this batch.
 */
export function decideBatch(state: BatchState, commands: readonly LedgerCommand[]): BatchDecision {
  const draft = new BatchDraft(state);
  const outcomes = commands.map((command) => {
    const first = draft.decidedBefore(command.commandId);
    return first === null ? decide(draft, command) : answerAgain(draft, command, first);
  });
  return { outcomes, writes: draft.writes };
}

function decide(draft: BatchDraft, command: LedgerCommand): Outcome {
  if (isHoldCommand(command)) return decideHold(draft, command);
  switch (command.kind) {
    case 'dispute.block':
    case 'dispute.unblock':
    case 'dispute.return':
    case 'received_pix.return':
      return decideDispute(draft, command);
    case 'suspense.resolve':
    case 'suspense.credit':
      return decideSuspense(draft, command);
    case 'received_pix.credit':
    case 'received_pix.suspend':
    case 'pending.release':
    case 'payout_return.credit':
    case 'payout.suspend':
    case 'acquirer_tariff.book':
      return decideMovement(draft, command);
    default:
      return assertNever(command);
  }
}

function answerAgain(draft: BatchDraft, command: LedgerCommand, first: DecidedCommand): Outcome {
  if (first.accountId !== command.accountId || first.fingerprint !== fingerprintOf(command)) {
    return {
      kind: 'rejected',
      reason: 'other_content',
      message: `command ${command.commandId} is booked as ${first.kind} with other content`,
    };
  }
  if (command.kind === 'pending.release') draft.writes.releasesDone.push(command.creditId);
  const { code, version } = first;
  const hold = isHoldCommand(command) ? draft.hold(command.holdId) : null;
  return { kind: 'decided', code, version, repeated: true, hold };
}
