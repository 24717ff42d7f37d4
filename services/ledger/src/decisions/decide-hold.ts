import assert from 'node:assert';

import { assertNever } from '@pixmesh/kernel/app-error';

import type {
  HoldCommand,
  HoldRelease,
  HoldSettle,
  HoldTake,
  HoldVoid,
} from '#commands/ledger-command.ts';
import type { Hold, Outcome, OutcomeCode, RefundPart } from '#commands/outcome.ts';

import type { BatchDraft, Booking } from './batch-draft.ts';
import { holdRefund, releaseRefund, settleRefund } from './pix-debits.ts';
import { TEMPLATES } from './templates.ts';

/**
 * The life of a hold: taken or refused once, then settled or released once. A hold that was voided or released before
 * it came stands as a row without money that refuses it for ever (decision 134).
 */
export function decideHold(draft: BatchDraft, command: HoldCommand): Outcome {
  const hold = draft.hold(command.holdId);
  if (hold !== null && isForeign(hold, command)) {
    const message = `hold ${command.holdId} belongs to another account or resource`;
    return { kind: 'rejected', reason: 'foreign_hold', message };
  }
  switch (command.kind) {
    case 'hold.take':
      return decideHoldTake(draft, command, hold);
    case 'hold.void':
      return decideHoldVoid(draft, command, hold);
    case 'hold.settle':
      return decideHoldSettle(draft, command, hold);
    case 'hold.release':
      return decideHoldRelease(draft, command, hold);
    default:
      return assertNever(command);
  }
}

/** Amount and fee against the balance in one guard; equality is enough (decisions 114, 135). */
function decideHoldTake(draft: BatchDraft, command: HoldTake, tombstone: Hold | null): Outcome {
  const { resourceId } = command;
  if (tombstone !== null)
    return draft.note(command, { code: 'voided', resourceId: null, hold: tombstone });
  if (draft.isHeld(resourceId)) return refuse(draft, command, 'resource_held');
  return command.endToEndId === null
    ? decidePayoutHoldTake(draft, command)
    : decideRefundHoldTake(draft, command, command.endToEndId);
}

function decidePayoutHoldTake(draft: BatchDraft, command: HoldTake): Outcome {
  const { amount, fee, holdKind: kind } = command;
  assert(kind === 'payout', 'a refund names its Pix');
  const { available } = draft.account(command.accountId).balances;
  if (available < amount + fee) return refuse(draft, command, 'insufficient_balance');
  const hold = newHold(draft, command, { kind, amount, fee, state: 'open' });
  return draft.book(command, {
    template: TEMPLATES.holdTake,
    money: command,
    resourceId: null,
    hold,
  });
}

/** Bounded by its Pix, and out of the block of it first (decision 79). */
function decideRefundHoldTake(draft: BatchDraft, command: HoldTake, endToEndId: string): Outcome {
  const { accountId, amount, fee, holdKind: kind } = command;
  assert(kind === 'refund' && fee === 0n, 'a Pix is returned by a refund, without a fee');
  const pix = draft.pix(accountId, endToEndId);
  if (pix === null) return refuse(draft, command, 'unknown_pix');
  const change = holdRefund(pix, amount);
  if (change === null) return refuse(draft, command, 'exceeds_received');
  const { ofBlock, rest } = change;
  if (rest > 0n && draft.account(accountId).balances.available < rest) {
    return refuse(draft, command, 'insufficient_balance');
  }
  const refund = { endToEndId, fromBlock: ofBlock };
  return draft.book(command, {
    template: TEMPLATES.refundHoldTake,
    money: { amount, fee, ofBlock },
    resourceId: null,
    hold: newHold(draft, command, { kind, amount, fee, state: 'open', refund }),
    pix: change.pix,
  });
}

function refuse(
  draft: BatchDraft,
  command: HoldTake,
  reason: 'insufficient_balance' | 'resource_held' | 'unknown_pix' | 'exceeds_received',
): Outcome {
  const { holdKind: kind, amount, fee } = command;
  const hold = newHold(draft, command, { kind, amount, fee, state: 'refused' });
  return draft.note(command, { code: reason, resourceId: null, hold });
}

/** Makes sure that nothing is held and never will be under this id, or answers that it was. */
function decideHoldVoid(draft: BatchDraft, command: HoldVoid, hold: Hold | null): Outcome {
  const { resourceId } = command;
  if (hold === null) {
    const tombstone = newHold(draft, command, { state: 'voided' });
    return draft.note(command, { code: 'noted', resourceId, hold: tombstone });
  }
  return draft.note(command, { code: wasTaken(hold) ? 'already_held' : 'noted', resourceId, hold });
}

function decideHoldSettle(draft: BatchDraft, command: HoldSettle, hold: Hold | null): Outcome {
  if (hold === null || hold.state === 'refused') {
    const message = `hold ${command.holdId} was never taken: nothing can be settled`;
    return { kind: 'rejected', reason: 'unknown_hold', message };
  }
  if (hold.state !== 'open') return refuseEnd(draft, command, hold);
  return end(draft, command, { ...hold, state: 'settled' });
}

function decideHoldRelease(draft: BatchDraft, command: HoldRelease, hold: Hold | null): Outcome {
  const { resourceId } = command;
  if (hold === null || hold.state === 'refused') {
    const tombstone = hold ?? newHold(draft, command, { state: 'released' });
    const outcome = draft.note(command, { code: 'noted', resourceId, hold: tombstone });
    draft.announce(command, 'noted', { hold: { ...tombstone, amount: 0n, fee: 0n } });
    return outcome;
  }
  if (hold.state !== 'open') return refuseEnd(draft, command, hold);
  return end(draft, command, { ...hold, state: 'released' });
}

function end(draft: BatchDraft, command: HoldSettle | HoldRelease, hold: Hold): Outcome {
  const booking = hold.refund
    ? refundEnd(draft, command, { ...hold, refund: hold.refund })
    : payoutEnd(command, hold);
  if (booking === null) {
    const message = `hold ${command.holdId} would return more than was received`;
    return { kind: 'rejected', reason: 'exceeds_received', message };
  }
  const outcome = draft.book(command, booking);
  if (outcome.kind === 'decided') draft.announce(command, 'booked', { hold });
  return outcome;
}

function payoutEnd({ kind, resourceId }: HoldSettle | HoldRelease, hold: Hold): Booking {
  const template = kind === 'hold.settle' ? TEMPLATES.holdSettle : TEMPLATES.holdRelease;
  return { template, money: hold, resourceId, hold };
}

/** The end changes the Pix too. Null: with what has gone back besides, it would be more than the Pix. */
function refundEnd(
  draft: BatchDraft,
  { kind, resourceId }: HoldSettle | HoldRelease,
  hold: Hold & { refund: RefundPart },
): Booking | null {
  const { accountId, amount, fee, refund } = hold;
  const before = draft.pix(accountId, refund.endToEndId);
  assert(before, 'the Pix of a hold that was taken is known');
  const details = { amount, fromBlock: refund.fromBlock };
  if (kind === 'hold.settle') {
    const pix = settleRefund(before, details);
    const template = TEMPLATES.holdSettle;
    return pix === null ? null : { template, money: hold, resourceId, hold, pix };
  }
  const { pix, ofBlock } = releaseRefund(before, details);
  const money = { amount, fee, ofBlock };
  return { template: TEMPLATES.refundHoldRelease, money, resourceId, hold, pix };
}

/** The hold had ended before; its present state is what the loser of the race has to know. */
function refuseEnd(draft: BatchDraft, command: HoldSettle | HoldRelease, hold: Hold): Outcome {
  const code: OutcomeCode = `already_${hold.state as 'settled' | 'released' | 'voided'}`;
  const outcome = draft.note(command, { code, resourceId: command.resourceId, hold });
  draft.announce(command, code, { hold });
  return outcome;
}

function newHold(
  draft: BatchDraft,
  command: HoldCommand,
  details: Pick<Hold, 'state'> & Partial<Pick<Hold, 'kind' | 'amount' | 'fee' | 'refund'>>,
): Hold {
  const { holdId, accountId, resourceId } = command;
  const createdAt = new Date(draft.timeFor(accountId));
  return {
    holdId,
    accountId,
    resourceId,
    kind: null,
    amount: 0n,
    fee: 0n,
    createdAt,
    ...details,
  };
}

function isForeign(hold: Hold, command: HoldCommand): boolean {
  return hold.accountId !== command.accountId || hold.resourceId !== command.resourceId;
}

/** Whether money was ever reserved under this hold. */
function wasTaken(hold: Hold): boolean {
  const { state } = hold;
  return state === 'open' || state === 'settled' || (state === 'released' && hold.amount > 0n);
}
