import type {
  Decision,
  Moves,
  OracleAccount,
  OracleBooks,
  OracleCommand,
  OracleHold,
  OracleKind,
} from './oracle-books.ts';

import {
  disputeEnds,
  disputeOpens,
  freshPix,
  goesBack,
  type OraclePix,
  refundDone,
  refundFailed,
  refundHeld,
} from './oracle-pix.ts';

type CommandOf<Kind extends OracleCommand['kind']> = Extract<OracleCommand, { kind: Kind }>;

/** From where to where money moves that nothing can refuse. */
const WAYS = {
  'received_pix.suspend': ['acquirer_clearing', 'suspense'],
  'payout_return.credit': ['acquirer_clearing', 'available'],
  'acquirer_tariff.book': ['acquirer_tariffs', 'acquirer_clearing'],
} as const;

/** The expected outcome of a command that has not been decided before. */
export function decideExpected(
  books: OracleBooks,
  account: OracleAccount,
  { command, atMs }: { command: OracleCommand; atMs: number },
): Decision {
  if ('holdId' in command) return decideHold(books, account, command);
  switch (command.kind) {
    case 'received_pix.credit':
      return decideCredit(command, atMs);
    case 'pending.release':
      return decideMakeAvailable(books, command, atMs);
    case 'payout.suspend':
      return command.direction === 'in'
        ? booked('acquirer_clearing', 'suspense', command.amount)
        : booked('suspense', 'acquirer_clearing', command.amount);
    case 'received_pix.suspend':
    case 'payout_return.credit':
    case 'acquirer_tariff.book':
      return bookedFrom(WAYS[command.kind], command.amount);
    case 'dispute.block':
    case 'dispute.unblock':
    case 'dispute.return':
    case 'received_pix.return':
      return decidePix(books, command);
    case 'suspense.resolve':
      return decideResolve(books, command);
    case 'suspense.credit':
      return booked('acquirer_clearing', 'available', command.amount);
    default:
      throw new Error('the oracle does not know this command');
  }
}

function decideCredit(
  { releaseAtMs, amount }: CommandOf<'received_pix.credit'>,
  atMs: number,
): Decision {
  const isLater = releaseAtMs !== null && releaseAtMs > atMs;
  return booked('acquirer_clearing', isLater ? 'pending' : 'available', amount);
}

function decideHold(
  books: OracleBooks,
  account: OracleAccount,
  command: CommandOf<'hold.take' | 'hold.void' | 'hold.settle' | 'hold.release'>,
): Decision {
  const hold = books.holds.get(command.holdId);
  const isForeign =
    hold && (hold.accountId !== command.accountId || hold.resourceId !== command.resourceId);
  if (isForeign) return rejected('foreign_hold');
  if (command.kind === 'hold.take') return decideTake(books, account, command);
  if (command.kind === 'hold.void') return still(hold?.wasTaken ? 'already_held' : 'noted');
  if (hold?.state === 'open') return decideEnd(books, hold, command.kind);
  if (hold && hold.state !== 'refused') return still(`already_${hold.state}`);
  // Nothing was ever taken: there is nothing to settle, and a release makes sure that there never will be.
  return command.kind === 'hold.settle' ? rejected('unknown_hold') : still('noted');
}

function decideTake(
  books: OracleBooks,
  account: OracleAccount,
  command: CommandOf<'hold.take'>,
): Decision {
  if (books.holds.has(command.holdId)) return still('voided');
  if (books.standing.has(command.resourceId)) return still('resource_held');
  if (command.pix !== null) return decideRefund(books, account, { ...command, pix: command.pix });
  const total = command.amount + command.fee;
  if (account.available < total) return still('insufficient_balance');
  return booked('available', 'held', total);
}

/** As much of it as is blocked comes out of the block, and only the rest must be there. */
function decideRefund(
  books: OracleBooks,
  account: OracleAccount,
  { accountId, pix: name, amount }: { accountId: string; pix: string; amount: number },
): Decision {
  const pix = pixOf(books, accountId, name);
  if (!pix) return still('unknown_pix');
  const step = refundHeld(pix, amount);
  if (!step) return still('exceeds_received');
  const rest = amount - step.block;
  if (rest > 0 && account.available < rest) return still('insufficient_balance');
  const moves = { held: amount, blocked: -step.block, available: -rest };
  return { ...moved(moves), pix: step.pix, fromBlock: step.block };
}

function decideRefundEnd(
  books: OracleBooks,
  hold: OracleHold & { pix: string },
  end: 'hold.settle' | 'hold.release',
): Decision {
  const { amount, fromBlock } = hold;
  const pix = pixOf(books, hold.accountId, hold.pix);
  if (!pix) throw new Error('a refund without its Pix');
  if (end === 'hold.settle') {
    const step = refundDone(pix, amount, fromBlock);
    if (!step) return rejected('exceeds_received');
    return { ...booked('held', 'acquirer_clearing', amount), pix: step.pix };
  }
  const { block, pix: after } = refundFailed(pix, amount, fromBlock);
  return { ...moved({ held: -amount, blocked: block, available: amount - block }), pix: after };
}

type OfPix = CommandOf<
  'dispute.block' | 'dispute.unblock' | 'dispute.return' | 'received_pix.return'
>;

function decidePix(books: OracleBooks, command: OfPix): Decision {
  const { accountId, subject, amount } = command;
  const pix = pixOf(books, accountId, subject);
  if (!pix) return rejected('unknown_pix');
  if (command.kind === 'dispute.block') {
    const step = disputeOpens(pix, command.dispute, amount);
    if (step.block === 0) return { ...still('noted'), pix: step.pix };
    const moves = booked('available', 'blocked', step.block);
    return { ...moves, forces: true, pix: step.pix };
  }
  if (command.kind === 'dispute.unblock') {
    const step = disputeEnds(pix, command.dispute, amount);
    const moves = step.block === 0 ? still('noted') : booked('blocked', 'available', step.block);
    return { ...moves, pix: step.pix };
  }
  return decideReturn(pix, command);
}

function decideReturn(pix: OraclePix, command: OfPix): Decision {
  const { amount } = command;
  const isForBlock = !('from' in command) || command.from === 'blocked';
  const dispute = 'dispute' in command ? command.dispute : null;
  const step = goesBack(pix, { sum: amount, isForBlock, dispute });
  if (!step) return rejected('exceeds_received');
  const rest = amount - step.block;
  const moves = { acquirer_clearing: amount, blocked: -step.block, available: -rest };
  return { ...moved(moves), forces: true, pix: step.pix };
}

function pixOf(books: OracleBooks, accountId: string, name: string): OraclePix | null {
  const credit = books.credits.get(name);
  if (credit?.accountId !== accountId) return null;
  return books.pix.get(name) ?? freshPix(credit.amount);
}

const RESOLVED = {
  accept: ['suspense', 'available'],
  hand_over: ['suspense', 'acquirer_clearing'],
  return: ['suspense', 'acquirer_clearing'],
} as const;

function decideResolve(books: OracleBooks, command: CommandOf<'suspense.resolve'>): Decision {
  const item = books.items.get(command.item);
  const isLess = command.action === 'return' && item !== undefined && command.amount < item.amount;
  const isTheirs =
    item?.accountId === command.accountId && (item.amount === command.amount || isLess);
  if (!item || !isTheirs) return rejected('unknown_item');
  if (!item.isOpen) return rejected('item_resolved');
  return bookedFrom(RESOLVED[command.action], command.amount);
}

function decideEnd(
  books: OracleBooks,
  hold: OracleHold,
  end: 'hold.settle' | 'hold.release',
): Decision {
  if (hold.pix !== null) return decideRefundEnd(books, { ...hold, pix: hold.pix }, end);
  const total = hold.amount + hold.fee;
  if (end === 'hold.release') return booked('held', 'available', total);
  const moves: Moves = { held: -total, acquirer_clearing: hold.amount };
  if (hold.fee > 0) moves.fees = hold.fee;
  return moved(moves);
}

function decideMakeAvailable(
  books: OracleBooks,
  command: CommandOf<'pending.release'>,
  atMs: number,
): Decision {
  const credit = books.waiting.get(command.creditId);
  if (!credit || credit.accountId !== command.accountId) return rejected('no such credit waits');
  if (credit.releaseAtMs > atMs) return rejected('its time has not come');
  return booked('pending', 'available', credit.amount);
}

function booked(from: OracleKind, to: OracleKind, amount: number): Decision {
  return moved({ [from]: -amount, [to]: amount });
}

function moved(moves: Moves): Decision {
  return { word: 'booked', moves, isRejected: false, forces: false };
}

function bookedFrom([from, to]: readonly [OracleKind, OracleKind], amount: number): Decision {
  return booked(from, to, amount);
}

function still(word: string): Decision {
  return { word, moves: {}, isRejected: false, forces: false };
}

function rejected(word: string): Decision {
  return { word, moves: {}, isRejected: true, forces: false };
}
