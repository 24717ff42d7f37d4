import { assertNever } from '@pixmesh/kernel/app-error';

import type {
  HoldCommand,
  ReleaseHold,
  SettleHold,
  TakeHold,
  VoidHold,
} from '#commands/ledger-command.ts';
import type { Hold, Outcome, OutcomeCode } from '#commands/outcome.ts';
import { TEMPLATES } from '#journals/templates.ts';

import type { BatchDesk } from './batch-desk.ts';

/**
 * The life of a hold: taken or refused once, then settled or released once. A hold that was voided or released before
 * it came stands as a row without money that refuses it for ever (decision 134).
 */
export function decideHold(desk: BatchDesk, command: HoldCommand): Outcome {
  const hold = desk.hold(command.holdId);
  if (hold !== null && isForeign(hold, command)) {
    const message = `hold ${command.holdId} belongs to another account or resource`;
    return { kind: 'rejected', reason: 'foreign_hold', message };
  }
  switch (command.kind) {
    case 'take_hold':
      return takeHold(desk, command, hold);
    case 'void_hold':
      return voidHold(desk, command, hold);
    case 'settle_hold':
      return settleHold(desk, command, hold);
    case 'release_hold':
      return releaseHold(desk, command, hold);
    default:
      return assertNever(command);
  }
}

/** Amount and fee against the balance in one guard; equality is enough (decisions 114, 135). */
function takeHold(desk: BatchDesk, command: TakeHold, tombstone: Hold | null): Outcome {
  const { resourceId, amount, fee } = command;
  if (tombstone !== null)
    return desk.note(command, { code: 'voided', resourceId: null, hold: tombstone });
  if (desk.isHeld(resourceId)) return refuse(desk, command, 'resource_held');
  const { available } = desk.account(command.accountId).balances;
  if (available < amount + fee) return refuse(desk, command, 'insufficient_balance');
  const hold = newHold(desk, command, { kind: command.holdKind, amount, fee, state: 'open' });
  return desk.book(command, {
    template: TEMPLATES.takeHold,
    money: command,
    resourceId: null,
    hold,
  });
}

function refuse(
  desk: BatchDesk,
  command: TakeHold,
  reason: 'insufficient_balance' | 'resource_held',
): Outcome {
  const { holdKind: kind, amount, fee } = command;
  const hold = newHold(desk, command, { kind, amount, fee, state: 'refused' });
  return desk.note(command, { code: reason, resourceId: null, hold });
}

/** Makes sure that nothing is held and never will be under this id, or says that it was. */
function voidHold(desk: BatchDesk, command: VoidHold, hold: Hold | null): Outcome {
  const { resourceId } = command;
  if (hold === null) {
    const tombstone = newHold(desk, command, { state: 'voided' });
    return desk.note(command, { code: 'noted', resourceId, hold: tombstone });
  }
  return desk.note(command, { code: wasTaken(hold) ? 'already_held' : 'noted', resourceId, hold });
}

function settleHold(desk: BatchDesk, command: SettleHold, hold: Hold | null): Outcome {
  if (hold === null || hold.state === 'refused') {
    const message = `hold ${command.holdId} was never taken: nothing can be settled`;
    return { kind: 'rejected', reason: 'unknown_hold', message };
  }
  if (hold.state !== 'open') return refuseEnd(desk, command, hold);
  return end(desk, command, { ...hold, state: 'settled' });
}

function releaseHold(desk: BatchDesk, command: ReleaseHold, hold: Hold | null): Outcome {
  const { resourceId } = command;
  if (hold === null || hold.state === 'refused') {
    const stands = hold ?? newHold(desk, command, { state: 'released' });
    const outcome = desk.note(command, { code: 'noted', resourceId, hold: stands });
    desk.announce(command, 'noted', { ...stands, amount: 0n, fee: 0n });
    return outcome;
  }
  if (hold.state !== 'open') return refuseEnd(desk, command, hold);
  return end(desk, command, { ...hold, state: 'released' });
}

function end(desk: BatchDesk, command: SettleHold | ReleaseHold, hold: Hold): Outcome {
  const outcome = desk.book(command, {
    template: command.kind === 'settle_hold' ? TEMPLATES.settleHold : TEMPLATES.releaseHold,
    money: hold,
    resourceId: command.resourceId,
    hold,
  });
  if (outcome.kind === 'decided') desk.announce(command, 'booked', hold);
  return outcome;
}

/** The hold had ended before; its present state is what the loser of the race has to know. */
function refuseEnd(desk: BatchDesk, command: SettleHold | ReleaseHold, hold: Hold): Outcome {
  const code: OutcomeCode = `already_${hold.state as 'settled' | 'released' | 'voided'}`;
  const outcome = desk.note(command, { code, resourceId: command.resourceId, hold });
  desk.announce(command, code, hold);
  return outcome;
}

function newHold(
  desk: BatchDesk,
  command: HoldCommand,
  told: Pick<Hold, 'state'> & Partial<Pick<Hold, 'kind' | 'amount' | 'fee'>>,
): Hold {
  const { holdId, accountId, resourceId } = command;
  const createdAt = new Date(desk.timeFor(accountId));
  return {
    holdId,
    accountId,
    resourceId,
    kind: null,
    amount: 0n,
    fee: 0n,
    createdAt,
    ...told,
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
