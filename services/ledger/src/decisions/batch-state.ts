import type { AccountId } from '@pixmesh/kernel/ids';

import type { AccountKind, AccountState, Balances } from '#accounts/chart-of-accounts.ts';
import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { DecidedCommand, Hold, OutcomeCode } from '#commands/outcome.ts';

import type { PixDebits } from './pix-debits.ts';

/** What is known of a batch's commands while the rows of their owners are locked. */
export type BatchState = {
  /** Database time after the last lock, in milliseconds since 1970. */
  nowMs: number;
  /** Every owner that a command names. */
  accounts: ReadonlyMap<AccountId, AccountState>;
  /** Commands of the batch that were decided before, by id. */
  decided: ReadonlyMap<string, DecidedCommand>;
  /** Holds that a command names, and those that stand for a resource that one names, by hold id. */
  holds: ReadonlyMap<string, Hold>;
  /** The Pix that refunds, disputes and returns of the batch are about, by `pixKey`; absent where none was credited. */
  pix: ReadonlyMap<string, PixDebits>;
  /** Items of suspense that a command ends, by id. */
  suspenseItems: ReadonlyMap<string, SuspenseItem>;
};

export type SuspenseItem = {
  accountId: AccountId;
  /** What is left of it; below zero where money left although its payout had failed. */
  amount: bigint;
  isResolved: boolean;
};

/** A Pix within its owner's books. */
export function pixKey(pix: { accountId: AccountId; endToEndId: string }): string {
  return `${pix.accountId}/${pix.endToEndId}`;
}

/** An item as a batch leaves it: what is left of it, or what its end was for. */
export type ItemChange = { amount: bigint; resolvedAtMs: number | null };

type JournalWrite = {
  command: LedgerCommand;
  code: OutcomeCode;
  version: bigint | null;
  fingerprint: string;
  resourceId: string | null;
  createdAtMs: number;
};

type EntryWrite = {
  accountId: AccountId;
  version: bigint;
  kind: AccountKind;
  amount: bigint;
  balanceAfter: bigint;
};

export type SuspenseWrite = {
  commandId: string;
  accountId: AccountId;
  endToEndId: string | null;
  chargeId: string | null;
  payoutId: string | null;
  amount: bigint;
  reason: string;
  createdAtMs: number;
  /** Where the same batch ends it. */
  resolvedAtMs: number | null;
};

type ReleaseWrite = {
  commandId: string;
  accountId: AccountId;
  amount: bigint;
  releaseAt: Date;
};

/** What the event of an outcome holds beside the command itself. */
export type EventWrite = {
  command: LedgerCommand;
  code: OutcomeCode;
  hold: Hold | null;
  /** What moved, which may be less than the command's amount. */
  moved: bigint;
  balances: Pick<Balances, 'available' | 'pending'>;
  occurredAtMs: number;
};

/** Everything that a batch changes, each list in the order of the commands. */
export type BatchWrites = {
  journals: JournalWrite[];
  entries: EntryWrite[];
  /** Owners that moved, as they stand after the batch. */
  accounts: Map<AccountId, AccountState>;
  /** Holds that changed, as they stand after the batch. */
  holds: Map<string, Hold>;
  /** Those of them that did not stand before the batch. */
  newHolds: Set<string>;
  /** Pix that changed, as they stand after the batch. */
  pix: Map<string, PixDebits>;
  suspenseItems: SuspenseWrite[];
  /** Items that stood before the batch and end in it, or lose a part. */
  itemsChanged: Map<string, ItemChange>;
  releases: ReleaseWrite[];
  /** Credits whose release is done with. */
  releasesDone: string[];
  events: EventWrite[];
};
