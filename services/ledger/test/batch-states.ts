import { JOURNAL_KINDS } from '@pixmesh/contracts/internal/journal-kinds';
import type { AccountId } from '@pixmesh/kernel/ids';

import { ACCOUNT_KINDS, type AccountState, type Balances } from '#accounts/chart-of-accounts.ts';
import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { DecidedCommand, Hold } from '#commands/outcome.ts';
import { type BatchState, pixKey } from '#decisions/batch-state.ts';
import type { BatchDecision } from '#decisions/decide-batch.ts';
import { type PixDebits, untouchedPix } from '#decisions/pix-debits.ts';

export const NOW = new Date('2026-11-21T12:00:00.000Z');

type Standing = Partial<Record<keyof Balances | 'forcedDebit', number>> & {
  version?: number;
  movedAtMs?: number;
};

/** An owner's row in plain numbers; zero where a test names none. */
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

/** What stands before a batch: every owner that its commands name, empty unless given. */
export function stateFor(
  commands: readonly LedgerCommand[],
  given: {
    accounts?: Readonly<Record<string, Standing>>;
    holds?: readonly Hold[];
    decided?: ReadonlyMap<string, DecidedCommand>;
    pix?: readonly PixDebits[];
    suspenseItems?: BatchState['suspenseItems'];
    now?: Date;
  } = {},
): BatchState {
  const owners = new Set(commands.map((command) => command.accountId));
  return {
    nowMs: (given.now ?? NOW).getTime(),
    accounts: new Map([...owners].map((owner) => [owner, account(given.accounts?.[owner])])),
    decided: given.decided ?? new Map(),
    holds: new Map((given.holds ?? []).map((hold) => [hold.holdId, hold])),
    pix: new Map((given.pix ?? []).map((one) => [pixKey(one), one])),
    suspenseItems: given.suspenseItems ?? new Map(),
  };
}

/** What stands after a batch: the state that the next one would read. */
export function stateAfter(before: BatchState, { writes }: BatchDecision): BatchState {
  const decided = new Map(before.decided);
  for (const { command, code, version, fingerprint } of writes.journals) {
    const { accountId } = command;
    const kind = JOURNAL_KINDS[command.kind];
    decided.set(command.commandId, { accountId, kind, code, version, fingerprint });
  }
  const credits = writes.journals.flatMap(({ command, code }) =>
    command.kind === 'received_pix.credit' && code === 'booked'
      ? [untouchedPix(command.accountId, command.endToEndId, command.amount)]
      : [],
  );
  return {
    nowMs: before.nowMs,
    accounts: new Map<AccountId, AccountState>([...before.accounts, ...writes.accounts]),
    decided,
    holds: new Map([...before.holds, ...writes.holds]),
    pix: new Map([...before.pix, ...credits.map(keyed), ...writes.pix]),
    suspenseItems: itemsAfter(before, writes),
  };
}

function keyed(pix: PixDebits): [string, PixDebits] {
  return [pixKey(pix), pix];
}

function itemsAfter(before: BatchState, writes: BatchDecision['writes']) {
  const items = new Map(before.suspenseItems);
  for (const { commandId, accountId, amount, resolvedAtMs } of writes.suspenseItems) {
    items.set(commandId, { accountId, amount, isResolved: resolvedAtMs !== null });
  }
  for (const [itemId, { amount, resolvedAtMs }] of writes.itemsChanged) {
    const item = items.get(itemId);
    if (item) items.set(itemId, { ...item, amount, isResolved: resolvedAtMs !== null });
  }
  return items;
}
