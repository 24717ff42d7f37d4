import type { AccountId } from '@pixmesh/kernel/ids';

import { ACCOUNT_KINDS, type AccountState, type Balances } from '#accounts/chart-of-accounts.ts';
import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { BookedCommand, Hold } from '#commands/outcome.ts';
import type { BatchState } from '#engine/batch-state.ts';
import type { BatchDecision } from '#engine/decide-batch.ts';

export const NOW = new Date('2026-11-21T12:00:00.000Z');

type Standing = Partial<Record<keyof Balances | 'forcedDebit', number>> & {
  version?: number;
  movedAtMs?: number;
};

/** An owner's row as tests tell it: plain numbers, zero where nothing is said. */
export function account(standing: Standing = {}): AccountState {
  const { forcedDebit = 0, version = 0, movedAtMs = Number.NEGATIVE_INFINITY } = standing;
  const balances = ACCOUNT_KINDS.map((kind) => [kind, BigInt(standing[kind] ?? 0)]);
  return {
    balances: Object.fromEntries(balances) as Balances,
    forcedDebit: BigInt(forcedDebit),
    version: BigInt(version),
    movedAtMs,
  };
}

/** What stands before a batch: every owner that its commands name, empty unless told. */
export function stateFor(
  commands: readonly LedgerCommand[],
  told: {
    accounts?: Readonly<Record<string, Standing>>;
    holds?: readonly Hold[];
    booked?: ReadonlyMap<string, BookedCommand>;
    now?: Date;
  } = {},
): BatchState {
  const owners = new Set(commands.map((command) => command.accountId));
  return {
    nowMs: (told.now ?? NOW).getTime(),
    accounts: new Map([...owners].map((owner) => [owner, account(told.accounts?.[owner])])),
    booked: told.booked ?? new Map(),
    holds: new Map((told.holds ?? []).map((hold) => [hold.holdId, hold])),
  };
}

/** What stands after a batch: the state that the next one would read. */
export function stateAfter(before: BatchState, { writes }: BatchDecision): BatchState {
  const booked = new Map(before.booked);
  for (const { command, code, version, fingerprint } of writes.journals) {
    const { accountId, kind } = command;
    booked.set(command.commandId, { accountId, kind, code, version, fingerprint });
  }
  return {
    nowMs: before.nowMs,
    accounts: new Map<AccountId, AccountState>([...before.accounts, ...writes.accounts]),
    booked,
    holds: new Map([...before.holds, ...writes.holds]),
  };
}
