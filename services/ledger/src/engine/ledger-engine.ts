import assert from 'node:assert';
import { setTimeout as delay } from 'node:timers/promises';

import { runForAccount } from '@pixmesh/fair-share/current-account';
import type { Deadline } from '@pixmesh/http/deadline';
import { AppError } from '@pixmesh/kernel/app-error';
import type { AccountId } from '@pixmesh/kernel/ids';
import { createMicroBatcher } from '@pixmesh/postgres/micro-batcher';
import type { Logger } from '@pixmesh/telemetry/logger';
import { withSpan } from '@pixmesh/telemetry/tracing';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { BatchOutcome, Outcome, OwnerLocked } from '#commands/outcome.ts';
import { batchDecided } from '#reports.ts';

import { type BatchDeps, executeBatch } from './execute-batch.ts';

/** From 200 to 400 the rate still grew by a third and a batch took a quarter longer; beyond, only it takes longer. */
export const BATCH_MAX = 400;
/** More writers wait for each other's commits instead of writing. */
const WRITERS_MAX = 4;
const WRITERS_DEFAULT = 2;
/** About a second of work. Beyond it callers get an error that they may repeat, instead of waiting without a bound. */
export const QUEUE_MAX = 10_000;

/** Between two tries of a command whose account is locked. */
const LOCKED_PAUSE_MS = 100;

export type LedgerEngineDeps = Omit<BatchDeps, 'lockedOwners'> & {
  logger?: Logger;
  /** Batches written at the same time, 1 to 4. */
  writers?: number;
};

export type LedgerEngine = AsyncDisposable & {
  /**
   * Hands a command in and waits for what became of it. Commands of one account are decided in the order in which
   * they were handed in. Where a batch of another process holds the row of its account for too long, the command is
   * handed in again until the deadline, now behind those that came meanwhile; without a deadline its sender does that.
   * @throws AppError `DEPENDENCY_UNAVAILABLE` when the outcome is not known; the same command may be handed in again
   */
  submit(command: LedgerCommand, deadline?: Deadline): Promise<Outcome>;
  /** Commands that wait for their batch. */
  waiting(): number;
  /** Takes no more commands and finishes those that wait. */
  stop(): Promise<void>;
};

/**
 * Every change of money goes through here. Whatever waits when a writer is free becomes its next batch, without
 * waiting for more: under light load a command is alone in its batch, under heavy load they share one commit. An
 * account always has the same writer, so that its commands keep their order and its row is waited for by nobody else
 * in this process.
 */
export function createLedgerEngine(deps: LedgerEngineDeps): LedgerEngine {
  const { writers: count = WRITERS_DEFAULT } = deps;
  assert(Number.isInteger(count) && count >= 1 && count <= WRITERS_MAX, '1 to 4 writers');
  const writers = Array.from({ length: count }, () =>
    createMicroBatcher<LedgerCommand, BatchOutcome>({
      batchMax: BATCH_MAX,
      write: writeBatch,
      behind: behindLocked,
    }),
  );
  const batchDeps: BatchDeps = { ...deps, lockedOwners: new Set() };
  let isStopping = false;
  return { submit, waiting, stop, [Symbol.asyncDispose]: stop };

  async function submit(command: LedgerCommand, deadline?: Deadline): Promise<Outcome> {
    const writer = writers[writerOf(command.accountId, count)];
    assert(writer, 'every account has a writer');
    for (;;) {
      if (isStopping) throw unavailable('the ledger stops');
      if (waiting() >= QUEUE_MAX) throw unavailable('too many commands wait');
      const outcome = await runForAccount(command.accountId, () => writer.submit(command));
      if (outcome.kind !== 'owner_locked') return outcome;
      const mayWait = deadline !== undefined && deadline.remainingMs() > LOCKED_PAUSE_MS;
      if (!mayWait) throw unavailable('the row of the account is locked');
      await delay(LOCKED_PAUSE_MS);
    }
  }

  function waiting(): number {
    let sum = 0;
    for (const writer of writers) sum += writer.waiting();
    return sum;
  }

  async function stop(): Promise<void> {
    isStopping = true;
    await Promise.all(writers.map((writer) => writer.idle()));
  }

  async function writeBatch(commands: readonly LedgerCommand[]): Promise<BatchOutcome[]> {
    // A batch of several has no trace of its own to be part of.
    const parent = commands.length === 1 ? (commands[0]?.traceparent ?? null) : null;
    const attributes = { 'pixmesh.batch.size': commands.length };
    try {
      const outcomes = await withSpan('write ledger batch', { parent, attributes }, () =>
        executeBatch(batchDeps, commands),
      );
      batchDecided(commands, outcomes);
      const locked = lockedOwners(outcomes);
      if (locked.size > 0)
        deps.logger?.warn({ account_ids: [...locked.keys()] }, 'rows of accounts are locked');
      return outcomes;
    } catch (error) {
      deps.logger?.warn({ err: error, size: commands.length }, 'ledger batch not written');
      // `executeBatch` rejects alone what cannot be written: this error is of no single command, and all come again.
      throw error instanceof AppError ? error : unavailable('no batch can be written', error);
    }
  }
}

/** Nothing overtakes the commands of an owner that have to come again; those of others do not wait for them. */
function behindLocked(
  outcomes: readonly BatchOutcome[],
): ((command: LedgerCommand) => OwnerLocked | null) | null {
  const locked = lockedOwners(outcomes);
  return locked.size === 0 ? null : ({ accountId }) => locked.get(accountId) ?? null;
}

function lockedOwners(outcomes: readonly BatchOutcome[]): Map<AccountId, OwnerLocked> {
  const locked = outcomes.filter((outcome) => outcome.kind === 'owner_locked');
  return new Map(locked.map((outcome) => [outcome.accountId, outcome]));
}

/** Ids are random in their last digits, or all zeros. */
function writerOf(accountId: AccountId, count: number): number {
  return Number.parseInt(accountId.slice(-8), 16) % count;
}

function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('DEPENDENCY_UNAVAILABLE', { message, cause });
}
