import type { OraclePix } from './oracle-pix.ts';

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
  | ({ kind: 'hold.take'; pix: string | null; amount: number; fee: number } & HoldNamed)
  | ({ kind: 'hold.void' | 'hold.settle' | 'hold.release' } & HoldNamed)
  | { kind: 'received_pix.credit'; subject: string; amount: number; releaseAtMs: number | null }
  | {
      kind: 'received_pix.suspend' | 'payout_return.credit' | 'acquirer_tariff.book';
      subject: string;
      amount: number;
    }
  | { kind: 'pending.release'; creditId: string; amount: number }
  | { kind: 'payout.suspend'; subject: string; direction: 'in' | 'out'; amount: number }
  | { kind: 'dispute.block' | 'dispute.unblock'; subject: string; dispute: string; amount: number }
  | ({ kind: 'dispute.return'; dispute: string; from: 'blocked' | 'available' } & PixNamed)
  | ({ kind: 'received_pix.return' } & PixNamed)
  | ({
      kind: 'suspense.resolve';
      item: string;
      action: 'accept' | 'hand_over' | 'return';
    } & PixNamed)
  | ({ kind: 'suspense.credit'; item: string } & PixNamed);

/** A command in the words of the domain. `id` is what makes it the same command when it comes again. */
export type OracleCommand = { id: string; accountId: string } & Details;

/**
 * The expected outcome of a command. `booked` moves money; `noted` has none to move; other words are reasons why
 * nothing moves. A rejected one leaves no trace, and may be sent again.
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
