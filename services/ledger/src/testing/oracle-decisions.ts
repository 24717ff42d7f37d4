import type {
  Decision,
  Moves,
  OracleAccount,
  OracleBooks,
  OracleCommand,
  OracleHold,
  OracleKind,
} from './oracle.ts';

type Told<Kind extends OracleCommand['kind']> = Extract<OracleCommand, { kind: Kind }>;

/** From where to where money moves that nothing can hold up. */
const WAYS = {
  suspend: ['acquirer_clearing', 'suspense'],
  payout_return: ['acquirer_clearing', 'available'],
  tariff: ['acquirer_tariffs', 'acquirer_clearing'],
} as const;

/** What must become of a command that has not been decided before. */
export function decideOnPaper(
  books: OracleBooks,
  account: OracleAccount,
  { command, atMs }: { command: OracleCommand; atMs: number },
): Decision {
  if ('holdId' in command) return decideHold(books, account, command);
  switch (command.kind) {
    case 'credit':
      return decideCredit(command, atMs);
    case 'make_available':
      return decideMakeAvailable(books, command, atMs);
    case 'payout_suspend':
      return command.direction === 'in'
        ? booked('acquirer_clearing', 'suspense', command.amount)
        : booked('suspense', 'acquirer_clearing', command.amount);
    case 'suspend':
    case 'payout_return':
    case 'tariff':
      return bookedFrom(WAYS[command.kind], command.amount);
    case 'block':
      return { ...booked('available', 'blocked', command.amount), forces: true };
    case 'unblock':
      return account.blocked < command.amount
        ? rejected('below_floor')
        : booked('blocked', 'available', command.amount);
    case 'dispute_return':
      return decideReturn(account, command);
    default:
      throw new Error('the oracle does not know this command');
  }
}

function decideCredit({ releaseAtMs, amount }: Told<'credit'>, atMs: number): Decision {
  const isLater = releaseAtMs !== null && releaseAtMs > atMs;
  return booked('acquirer_clearing', isLater ? 'pending' : 'available', amount);
}

function decideHold(
  books: OracleBooks,
  account: OracleAccount,
  command: Told<'take' | 'void' | 'settle' | 'release'>,
): Decision {
  const hold = books.holds.get(command.holdId);
  const isForeign =
    hold && (hold.accountId !== command.accountId || hold.resourceId !== command.resourceId);
  if (isForeign) return rejected('foreign_hold');
  if (command.kind === 'take') return decideTake(books, account, command);
  if (command.kind === 'void') return still(hold?.wasTaken ? 'already_held' : 'noted');
  if (hold?.state === 'open') return decideEnd(hold, command.kind);
  if (hold && hold.state !== 'refused') return still(`already_${hold.state}`);
  // Nothing was ever taken: there is nothing to settle, and a release makes sure that there never will be.
  return command.kind === 'settle' ? rejected('unknown_hold') : still('noted');
}

function decideTake(books: OracleBooks, account: OracleAccount, command: Told<'take'>): Decision {
  if (books.holds.has(command.holdId)) return still('voided');
  if (books.standing.has(command.resourceId)) return still('resource_held');
  const total = command.amount + command.fee;
  if (account.available < total) return still('insufficient_balance');
  return booked('available', 'held', total);
}

function decideEnd(hold: OracleHold, end: 'settle' | 'release'): Decision {
  const total = hold.amount + hold.fee;
  if (end === 'release') return booked('held', 'available', total);
  const moves: Moves = { held: -total, acquirer_clearing: hold.amount };
  if (hold.fee > 0) moves.fees = hold.fee;
  return { word: 'booked', moves, isRejected: false, forces: false };
}

function decideMakeAvailable(
  books: OracleBooks,
  command: Told<'make_available'>,
  atMs: number,
): Decision {
  const credit = books.waiting.get(command.creditId);
  if (!credit || credit.accountId !== command.accountId) return rejected('no such credit waits');
  if (credit.releaseAtMs > atMs) return rejected('its time has not come');
  return booked('pending', 'available', credit.amount);
}

function decideReturn(account: OracleAccount, command: Told<'dispute_return'>): Decision {
  if (command.from === 'available') {
    return { ...booked('available', 'acquirer_clearing', command.amount), forces: true };
  }
  if (account.blocked < command.amount) return rejected('below_floor');
  return booked('blocked', 'acquirer_clearing', command.amount);
}

function booked(from: OracleKind, to: OracleKind, amount: number): Decision {
  return {
    word: 'booked',
    moves: { [from]: -amount, [to]: amount },
    isRejected: false,
    forces: false,
  };
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
