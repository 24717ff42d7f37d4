import { AppError } from '@pixmesh/kernel/app-error';
import type { AccountId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase } from '@pixmesh/testkit/test-database';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { Outcome } from '#commands/outcome.ts';
import { createLedgerEngine, type LedgerEngine } from '#engine/ledger-engine.ts';
import { executeBatch } from '#engine/execute-batch.ts';

import { receivedPixCredit } from './ledger-commands.ts';

export type LedgerUnderTest = Awaited<ReturnType<typeof aLedgerUnderTest>>;

/** A ledger of its own: database, engine, and how often its relay was woken. */
export async function aLedgerUnderTest() {
  const database = await createTestDatabase('ledger');
  const { db } = database;
  const woken = { times: 0 };
  const deps = { db, wakeOutbox: () => (woken.times += 1) };
  const engine = createLedgerEngine(deps);
  return {
    db,
    adminUrl: database.adminUrl,
    engine,
    woken,
    submit: (command: LedgerCommand) => submitDecided(engine, command),
    execute: (commands: readonly LedgerCommand[]) =>
      executeBatch({ ...deps, lockedOwners: new Set() }, commands),
    /** An owner with this much available. */
    fund: (cents: number) => fund(engine, cents),
    [Symbol.asyncDispose]: async () => {
      await engine.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

async function fund(engine: LedgerEngine, cents: number): Promise<AccountId> {
  const accountId = newId<AccountId>();
  if (cents > 0) await submitDecided(engine, receivedPixCredit({ accountId, amount: cents }));
  return accountId;
}

async function submitDecided(
  engine: LedgerEngine,
  command: LedgerCommand,
): Promise<Extract<Outcome, { kind: 'decided' }>> {
  const outcome = await engine.submit(command);
  if (outcome.kind === 'rejected') throw new Error(`rejected: ${outcome.message}`);
  return outcome;
}

export type StoredEvent = {
  topic: string;
  type: string;
  traceparent: string | null;
  message: {
    account_id: string | null;
    data: {
      command_id: string;
      journal_id: string;
      charge_id: string | null;
      amount: number;
      balance: { available: number; pending: number };
    };
  };
};

/** The events of an owner that wait for the relay, in their order. */
export async function queuedEvents(db: Database, accountId: string): Promise<StoredEvent[]> {
  return await db.query<StoredEvent>(sql`
    select topic, type, traceparent, message
    from events join outbox using (event_id)
    where key = ${accountId}
    order by outbox.id`);
}

/** Commands of an owner that were decided, the moving ones first and in their order. */
export async function journalsOf(
  db: Database,
  accountId: string,
): Promise<{ command_id: string; kind: string; outcome: string; version: bigint | null }[]> {
  return await db.query(sql`
    select command_id, kind, outcome, version
    from journals where account_id = ${accountId} order by version, created_at`);
}

/** A database whose next commits are done but never answered, as when the connection is lost meanwhile. */
export function losingCommits(db: Database, losses: number): Database {
  let left = losses;
  return {
    ...db,
    transaction: async (work) => {
      const result = await db.transaction(work);
      if (left > 0) {
        left -= 1;
        throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'database unavailable' });
      }
      return result;
    },
  };
}
