import assert from 'node:assert';

import type { JournalKind } from '@pixmesh/contracts/internal/journal-kinds';
import type { AccountId, HoldId } from '@pixmesh/kernel/ids';
import type { Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { type AccountState, balancesOf } from '#accounts/chart-of-accounts.ts';
import { type HoldKind, isHoldCommand, type LedgerCommand } from '#commands/ledger-command.ts';
import type { DecidedCommand, Hold, OutcomeCode } from '#commands/outcome.ts';
import type { BatchState } from '#decisions/batch-state.ts';

import { plainArray } from './plain-array.ts';
import { readPixAndRefunds } from './read-debits.sql.ts';
import { readItems } from './read-items.sql.ts';

/**
 * Locks the rows of all owners of a batch, in the order of their ids, and reads what stands: their balances, which of
 * the commands were decided before, and the holds they are about. One round trip; the function's own comment in the
 * migration says why it neither deadlocks nor reads what is older than its locks. What only refunds, disputes and
 * suspense have to know beside that, such as what is left of a Pix, is read under the same locks right after it.
 */
export async function lockBatch(
  tx: Transaction,
  commands: readonly LedgerCommand[],
): Promise<BatchState> {
  const holds = commands.filter(isHoldCommand);
  const rows = await tx.query<StateRow>(
    named(
      'ledger_lock_batch',
      sql`
        select
          source, id, account_id, available, pending, held, blocked, suspense, acquirer_clearing,
          fees, acquirer_tariffs, forced_debit, version, at, kind, state, fingerprint,
          resource_id, amount, fee
        from lock_batch(
          ${plainArray(new Set(commands.map((command) => command.accountId)))}::uuid[],
          ${plainArray(commands.map((command) => command.commandId))}::uuid[],
          ${plainArray(holds.map((command) => command.holdId))}::uuid[],
          ${plainArray(holds.filter(takes).map((command) => command.resourceId))}::uuid[]
        )`,
    ),
  );
  const state = toState(rows);
  return {
    ...state,
    ...(await readPixAndRefunds(tx, commands, state.holds)),
    suspenseItems: await readItems(tx, commands),
  };
}

function takes(command: LedgerCommand): boolean {
  return command.kind === 'hold.take';
}

type AccountRow = AccountState['balances'] & {
  source: 'account';
  account_id: AccountId;
  forced_debit: bigint;
  version: bigint;
  at: Date | number;
};
type CommandRow = {
  source: 'command';
  id: string;
  account_id: AccountId;
  kind: JournalKind;
  state: OutcomeCode;
  version: bigint | null;
  fingerprint: string;
};
type HoldRow = {
  source: 'hold';
  id: HoldId;
  account_id: AccountId;
  resource_id: string;
  kind: HoldKind | null;
  state: Hold['state'];
  amount: bigint;
  fee: bigint;
  at: Date;
};
type StateRow = AccountRow | CommandRow | HoldRow | { source: 'clock'; at: Date };

function toState(rows: readonly StateRow[]): Omit<BatchState, 'pix' | 'suspenseItems'> {
  let nowMs = Number.NaN;
  const accounts = new Map<AccountId, AccountState>();
  const decided = new Map<string, DecidedCommand>();
  const holds = new Map<string, Hold>();
  for (const row of rows) {
    if (row.source === 'account') accounts.set(row.account_id, toAccount(row));
    else if (row.source === 'hold') holds.set(row.id, toHold(row));
    else if (row.source === 'command') decided.set(row.id, toDecided(row));
    else nowMs = row.at.getTime();
  }
  assert(!Number.isNaN(nowMs), 'the clock is always read');
  return { nowMs, accounts, decided, holds };
}

function toAccount(row: AccountRow): AccountState {
  return {
    balances: balancesOf((kind) => row[kind]),
    forcedDebit: row.forced_debit,
    version: row.version,
    // An owner that has never moved has `-infinity` here, which the driver gives as a number.
    movedAtMs: Number(row.at),
  };
}

function toDecided(row: CommandRow): DecidedCommand {
  return {
    accountId: row.account_id,
    kind: row.kind,
    code: row.state,
    version: row.version,
    fingerprint: row.fingerprint.replaceAll('-', ''),
  };
}

function toHold(row: HoldRow): Hold {
  return {
    holdId: row.id,
    accountId: row.account_id,
    resourceId: row.resource_id,
    kind: row.kind,
    amount: row.amount,
    fee: row.fee,
    state: row.state,
    createdAt: row.at,
  };
}
