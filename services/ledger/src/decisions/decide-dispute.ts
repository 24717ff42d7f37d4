import { assertNever } from '@pixmesh/kernel/app-error';

import type {
  DisputeBlock,
  DisputeReturn,
  ReceivedPixReturn,
  DisputeUnblock,
} from '#commands/ledger-command.ts';
import type { Outcome } from '#commands/outcome.ts';

import type { BatchDraft } from './batch-draft.ts';
import { blockPix, type PixChange, type PixDebits, returnPix, unblockPix } from './pix-debits.ts';
import { TEMPLATES, type Template } from './templates.ts';

type OfPix = DisputeBlock | DisputeUnblock | DisputeReturn | ReceivedPixReturn;

/**
 * Money of a Pix that is disputed or went back: out of the balance, and back or away (decisions 136 to 138). Only a
 * block and a return may leave the balance below zero; all of them together never concern more than the Pix.
 */
export function decideDispute(draft: BatchDraft, command: OfPix): Outcome {
  const pix = draft.pix(command.accountId, command.endToEndId);
  if (pix === null) {
    const message = `command ${command.commandId} is about a Pix that is not credited to its account`;
    return { kind: 'rejected', reason: 'unknown_pix', message };
  }
  const decided = changeOf(pix, command);
  if (decided.change === null) {
    const message = `command ${command.commandId} would return more than was received`;
    return { kind: 'rejected', reason: 'exceeds_received', message };
  }
  return move(draft, command, { ...decided, change: decided.change });
}

function changeOf(
  pix: PixDebits,
  command: OfPix,
): { template: Template; change: PixChange | null } {
  switch (command.kind) {
    case 'dispute.block':
      return { template: TEMPLATES.disputeBlock, change: blockPix(pix, command) };
    case 'dispute.unblock':
      return { template: TEMPLATES.disputeUnblock, change: unblockPix(pix, command) };
    case 'dispute.return':
      return { template: TEMPLATES.pixReturn, change: returnPix(pix, command) };
    case 'received_pix.return': {
      const { amount } = command;
      const returned = { amount, from: 'blocked', disputeId: null } as const;
      return { template: TEMPLATES.pixReturn, change: returnPix(pix, returned) };
    }
    default:
      return assertNever(command);
  }
}

/** Where nothing is left to block or unblock, the dispute is noted all the same. */
function move(
  draft: BatchDraft,
  command: OfPix,
  { template, change }: { template: Template; change: PixChange },
): Outcome {
  const { pix, ofBlock, rest } = change;
  const { chargeId: resourceId } = command;
  const moved = ofBlock + rest;
  if (moved === 0n) {
    const outcome = draft.note(command, { code: 'noted', resourceId, hold: null, pix });
    draft.announce(command, 'noted');
    return outcome;
  }
  const money = { amount: moved, fee: 0n, ofBlock };
  const outcome = draft.book(command, { template, money, resourceId, pix });
  if (outcome.kind === 'decided') draft.announce(command, 'booked', { moved });
  return outcome;
}
