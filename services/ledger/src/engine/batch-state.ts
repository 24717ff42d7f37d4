import type { AccountId } from '@pixmesh/kernel/ids';

import type { AccountKind, AccountState } from '#accounts/chart-of-accounts.ts';
import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { BookedCommand, Hold, OutcomeCode } from '#commands/outcome.ts';
import type { Balances } from '#accounts/chart-of-accounts.ts';

/** What is known of a batch's commands while the rows of their owners are locked. */
export type BatchState = {
  /** Database time after the last lock, in milliseconds since 1970. */
  nowMs: number;
  /** Every owner that a command names. */
  accounts: ReadonlyMap<AccountId, AccountState>;
  /** Commands of the batch that were decided before, by id. */
  booked: ReadonlyMap<string, BookedCommand>;
  /** Holds that a command names, and those that stand for a resource that one names, by hold id. */
  holds: ReadonlyMap<string, Hold>;
};

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
};

type ReleaseWrite = {
  commandId: string;
  accountId: AccountId;
  amount: bigint;
  releaseAt: Date;
};

/** What the event of an outcome says beside the command itself. */
export type EventWrite = {
  command: LedgerCommand;
  code: OutcomeCode;
  hold: Hold | null;
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
  suspenseItems: SuspenseWrite[];
  releases: ReleaseWrite[];
  /** Credits whose release is done with. */
  releasesDone: string[];
  events: EventWrite[];
};
