import { decideOnPaper } from './oracle-decisions.ts';

/**
 * The books as a careful person would keep them on paper: plain numbers, one command after the other, nothing
 * shared with the service. It knows what must become of a command, given what went before it.
 */
export const ORACLE_KINDS = [
  'available',
  'pending',
  'held',
  'blocked',
  'suspense',
  'acquirer_clearing',
  'fees',
  'acquirer_tariffs',
] as const;

export type OracleKind = (typeof ORACLE_KINDS)[number];
/** Cents; above zero a credit. Kinds that do not move are absent. */
export type Moves = Partial<Record<OracleKind, number>>;

type HoldNamed = { holdId: string; resourceId: string };
type Details =
  | ({ kind: 'take'; purpose: 'payout' | 'refund'; amount: number; fee: number } & HoldNamed)
  | ({ kind: 'void' | 'settle' | 'release' } & HoldNamed)
  | { kind: 'credit'; subject: string; amount: number; releaseAtMs: number | null }
  | { kind: 'suspend' | 'payout_return' | 'tariff'; subject: string; amount: number }
  | { kind: 'make_available'; creditId: string; amount: number }
  | { kind: 'payout_suspend'; subject: string; direction: 'in' | 'out'; amount: number }
  | { kind: 'block' | 'unblock'; subject: string; amount: number }
  | { kind: 'dispute_return'; subject: string; from: 'blocked' | 'available'; amount: number };

/** A command in the words of the domain. `id` is what makes it the same command when it comes again. */
export type OracleCommand = { id: string; accountId: string } & Details;
type HoldEnd = Extract<OracleCommand, { kind: 'void' | 'settle' | 'release' }>;

/**
 * What must become of a command. `booked` moves money; `noted` has none to move; other words say why nothing moves.
 * A rejected one leaves no trace, and may be told again.
 */
export type Decision = {
  word: string;
  moves: Moves;
  isRejected: boolean;
  /** May take `available` below zero: the MED does not ask (decision 137). */
  forces: boolean;
};

export type OracleHold = {
  accountId: string;
  resourceId: string;
  state: 'refused' | 'open' | 'settled' | 'released' | 'voided';
  /** Whether money was ever reserved under it. */
  wasTaken: boolean;
  amount: number;
  fee: number;
};

export type OracleAccount = Record<OracleKind, number> & { forced: number; version: number };

export type OracleBooks = {
  accounts: Map<string, OracleAccount>;
  holds: Map<string, OracleHold>;
  /** The hold that stands for each resource: open or settled. */
  standing: Map<string, string>;
  /** Credits in `pending`. */
  waiting: Map<string, { accountId: string; amount: number; releaseAtMs: number }>;
  /** What became of each command, for ever. */
  decided: Map<string, Decision>;
};

export type Oracle = ReturnType<typeof createOracle>;

export function createOracle() {
  const books: OracleBooks = {
    accounts: new Map(),
    holds: new Map(),
    standing: new Map(),
    waiting: new Map(),
    decided: new Map(),
  };
  return { books, accountOf, decide, apply };

  function accountOf(accountId: string): OracleAccount {
    const known = books.accounts.get(accountId);
    if (known) return known;
    const zeros = Object.fromEntries(ORACLE_KINDS.map((kind) => [kind, 0]));
    const account = { ...zeros, forced: 0, version: 0 } as OracleAccount;
    books.accounts.set(accountId, account);
    return account;
  }

  /** What must become of the command now, at the ledger's time `atMs`; changes nothing. */
  function decide(command: OracleCommand, atMs: number): Decision {
    const first = books.decided.get(command.id);
    return first ?? decideOnPaper(books, accountOf(command.accountId), { command, atMs });
  }

  /** Decides and books. A command that was decided before changes nothing. */
  function apply(command: OracleCommand, atMs: number): Decision {
    if (books.decided.has(command.id)) return decide(command, atMs);
    const decision = decide(command, atMs);
    if (decision.isRejected) return decision;
    books.decided.set(command.id, decision);
    move(accountOf(command.accountId), decision);
    remember(command, decision);
    return decision;
  }

  function remember(command: OracleCommand, decision: Decision): void {
    if (command.kind === 'credit' && decision.moves.pending !== undefined) {
      const { accountId, amount, releaseAtMs } = command;
      books.waiting.set(command.id, { accountId, amount, releaseAtMs: releaseAtMs ?? 0 });
    }
    if (command.kind === 'make_available') books.waiting.delete(command.creditId);
    if (command.kind === 'take') rememberTake(command, decision);
    if (command.kind === 'void' && !books.holds.has(command.holdId)) tombstone(command, 'voided');
    if (command.kind === 'settle' || command.kind === 'release') rememberEnd(command, decision);
  }

  function rememberTake(command: OracleCommand & { kind: 'take' }, decision: Decision): void {
    if (decision.word === 'voided') return;
    const { accountId, resourceId, amount, fee } = command;
    const isHeld = decision.word === 'booked';
    const state = isHeld ? 'open' : 'refused';
    books.holds.set(command.holdId, {
      accountId,
      resourceId,
      state,
      wasTaken: isHeld,
      amount,
      fee,
    });
    if (isHeld) books.standing.set(resourceId, command.holdId);
  }

  function rememberEnd(command: HoldEnd, decision: Decision): void {
    const hold = books.holds.get(command.holdId);
    if (!hold) return tombstone(command, 'released');
    if (decision.word !== 'booked') return;
    hold.state = command.kind === 'settle' ? 'settled' : 'released';
    if (command.kind === 'release') books.standing.delete(hold.resourceId);
  }

  function tombstone(command: HoldEnd, state: 'voided' | 'released'): void {
    const { accountId, resourceId } = command;
    const empty = { wasTaken: false, amount: 0, fee: 0 };
    books.holds.set(command.holdId, { accountId, resourceId, state, ...empty });
  }
}

function move(account: OracleAccount, decision: Decision): void {
  for (const kind of ORACLE_KINDS) account[kind] += decision.moves[kind] ?? 0;
  if (decision.word === 'booked') account.version += 1;
  const owed = Math.max(0, -account.available);
  account.forced = decision.forces ? owed : Math.min(account.forced, owed);
}
