import type { AccountId } from '@pixmesh/kernel/ids';
import { isLockTimeout } from '@pixmesh/postgres/database-error';
import { blamesItem, writeOrHalve } from '@pixmesh/postgres/micro-batcher';
import { onCommit } from '@pixmesh/postgres/on-commit';
import type { Database } from '@pixmesh/postgres/pool';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { BatchOutcome, Outcome } from '#commands/outcome.ts';
import { decideBatch } from '#decisions/decide-batch.ts';

import { lockBatch } from './lock-batch.sql.ts';
import { findLockedOwners } from './locked-owners.sql.ts';
import { writeBatch } from './write-batch.sql.ts';

/** Waits of one batch that end without the row. An owner that is found to be locked is not waited for again. */
const LOCK_WAITS_MAX = 3;

export type BatchDeps = {
  db: Database;
  /** Wakes the outbox relay after a commit. */
  wakeOutbox(): void;
  /** Owners whose rows were found locked: whether they still are is asked before a batch waits for one again. */
  lockedOwners: Set<AccountId>;
};

/**
 * Decides and writes a batch in one transaction of two statements, and answers each command its outcome, in order.
 * Balances are read under the locks of this very transaction, never carried over from one before. Safe to repeat after
 * any failure, also one that leaves open whether the commit took place: what is booked is answered as it was.
 *
 * A batch that the database refuses to write is halved until the command that is refused is alone, and only that one is
 * rejected. An owner whose row another transaction holds for too long is passed over with all its commands, which have
 * to come again. Commands of one account keep their order.
 *
 * @throws AppError `DEPENDENCY_UNAVAILABLE` while the database is away: the outcome is unknown, ask again
 */
export async function executeBatch(
  deps: BatchDeps,
  commands: readonly LedgerCommand[],
): Promise<BatchOutcome[]> {
  if (commands.length === 0) return [];
  const locked = await findStillLocked(deps, commands);
  const execute = (some: readonly LedgerCommand[]) => executeUnlocked(deps, some, locked);
  return await writeOrHalve(commands, {
    write: execute,
    alone: (command, refusal) => executeAlone(execute, command, refusal),
  });
}

type Execute = (commands: readonly LedgerCommand[]) => Promise<BatchOutcome[]>;

/** Adds to `locked` the owners that it passes over, so that no later command of theirs in the batch overtakes. */
async function executeUnlocked(
  deps: BatchDeps,
  commands: readonly LedgerCommand[],
  locked: Set<AccountId>,
): Promise<BatchOutcome[]> {
  for (let waits = 1; ; waits += 1) {
    const free = commands.filter(({ accountId }) => !locked.has(accountId));
    try {
      const outcomes = (await executeOnce(deps, free)).values();
      return commands.map(({ accountId }) =>
        locked.has(accountId) ? { kind: 'owner_locked', accountId } : outcomes.next().value!,
      );
    } catch (error) {
      if (!isLockTimeout(error) || waits === LOCK_WAITS_MAX) throw error;
      const owners = new Set(free.map(({ accountId }) => accountId));
      for (const { accountId, hasRow } of await findLockedOwners(deps.db, owners)) {
        locked.add(accountId);
        if (hasRow) deps.lockedOwners.add(accountId);
      }
    }
  }
}

/**
 * While another process stands still in the middle of a batch, each batch with a command of one of its owners would
 * wait for the row, and with it all other owners of this writer.
 */
async function findStillLocked(
  { db, lockedOwners }: BatchDeps,
  commands: readonly LedgerCommand[],
): Promise<Set<AccountId>> {
  const owners = new Set(
    commands.map(({ accountId }) => accountId).filter((accountId) => lockedOwners.has(accountId)),
  );
  if (owners.size === 0) return new Set();
  const found = await findLockedOwners(db, owners);
  const locked = new Set(found.filter(({ hasRow }) => hasRow).map(({ accountId }) => accountId));
  for (const owner of owners) if (!locked.has(owner)) lockedOwners.delete(owner);
  return locked;
}

async function executeOnce(
  { db, wakeOutbox }: BatchDeps,
  commands: readonly LedgerCommand[],
): Promise<Outcome[]> {
  if (commands.length === 0) return [];
  return await db.transaction(async (tx) => {
    const state = await lockBatch(tx, commands);
    const { outcomes, writes } = decideBatch(state, commands);
    await writeBatch(tx, writes);
    if (writes.events.length > 0) onCommit(tx, wakeOutbox);
    return outcomes;
  });
}

/**
 * Two owners may name one command, hold or resource at the same time, which no lock of theirs keeps apart: the loser
 * is refused by a key and reads by whom when it is executed again.
 */
async function executeAlone(
  execute: Execute,
  command: LedgerCommand,
  refusal: unknown,
): Promise<BatchOutcome> {
  try {
    const [outcome] = await execute([command]);
    return outcome!;
  } catch (error) {
    if (!blamesItem(error)) throw error;
    const { code, constraint } = refusal as { code?: string; constraint?: string };
    const cause = constraint ?? code ?? (refusal as Error).name;
    const message = `command ${command.commandId} cannot be written: ${cause}`;
    return { kind: 'rejected', reason: 'unwritable', message };
  }
}
