import { decideOnPaper } from './oracle-decisions.ts';
import { rememberOnPaper } from './oracle-memory.ts';
import type { OraclePix } from './oracle-pix.ts';

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
type PixNamed = { subject: string; amount: number };
type Details =
  | ({ kind: 'take'; pix: string | null; amount: number; fee: number } & HoldNamed)
  | ({ kind: 'void' | 'settle' | 'release' } & HoldNamed)
  | { kind: 'credit'; subject: string; amount: number; releaseAtMs: number | null }
  | { kind: 'suspend' | 'payout_return' | 'tariff'; subject: string; amount: number }
  | { kind: 'make_available'; creditId: string; amount: number }
  | { kind: 'payout_suspend'; subject: string; direction: 'in' | 'out'; amount: number }
  | { kind: 'block' | 'unblock'; subject: string; dispute: string; amount: number }
  | ({ kind: 'dispute_return'; dispute: string; from: 'blocked' | 'available' } & PixNamed)
  | ({ kind: 'pix_return' } & PixNamed)
  | ({ kind: 'resolve'; item: string; action: 'accept' | 'hand_over' | 'return' } & PixNamed)
  | ({ kind: 'give'; item: string } & PixNamed);

/** A command in the words of the domain. `id` is what makes it the same command when it comes again. */
export type OracleCommand = { id: string; accountId: string } & Details;

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
  /** The Pix that it is about, as it stands after it. */
  pix?: OraclePix;
  /** How much came out of the Pix's block, of a refund. */
  fromBlock?: number;
};

export type OracleHold = {
  accountId: string;
  resourceId: string;
  state: 'refused' | 'open' | 'settled' | 'released' | 'voided';
  /** Whether money was ever reserved under it. */
  wasTaken: boolean;
  amount: number;
  fee: number;
  /** The Pix of a refund, and what came out of its block. */
  pix: string | null;
  fromBlock: number;
};

export type OracleAccount = Record<OracleKind, number> & { forced: number; version: number };

export type OracleBooks = {
  accounts: Map<string, OracleAccount>;
  holds: Map<string, OracleHold>;
  /** The hold that stands for each resource: open or settled. */
  standing: Map<string, string>;
  /** Credits in `pending`. */
  waiting: Map<string, { accountId: string; amount: number; releaseAtMs: number }>;
  /** Credited Pix, by what names them. */
  credits: Map<string, { accountId: string; amount: number }>;
  /** Those of them that were refunded, disputed or returned. */
  pix: Map<string, OraclePix>;
  /** Money in suspense, by the command that put it there. */
  items: Map<string, { accountId: string; amount: number; isOpen: boolean }>;
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
    credits: new Map(),
    pix: new Map(),
    items: new Map(),
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
    rememberOnPaper(books, command, decision);
    return decision;
  }
}

function move(account: OracleAccount, decision: Decision): void {
  for (const kind of ORACLE_KINDS) account[kind] += decision.moves[kind] ?? 0;
  if (decision.word === 'booked') account.version += 1;
  const owed = Math.max(0, -account.available);
  account.forced = decision.forces ? owed : Math.min(account.forced, owed);
}
