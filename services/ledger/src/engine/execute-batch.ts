import { isBug } from '@pixmesh/kernel/app-error';
import { writeOrHalve } from '@pixmesh/postgres/micro-batcher';
import { blamesContent } from '@pixmesh/postgres/database-error';
import type { Database } from '@pixmesh/postgres/pool';
import { z } from 'zod';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { Outcome } from '#commands/outcome.ts';

import { decideBatch } from '#decisions/decide-batch.ts';
import { lockBatch } from './lock-batch.sql.ts';
import { writeBatch } from './write-batch.sql.ts';

/**
 * Decides and writes a batch in one transaction of two statements, and answers each command its outcome, in order.
 * Balances are read under the locks of this very transaction, never carried over from one before. Safe to repeat after
 * any failure, also one that leaves open whether the commit took place: what is booked is answered as it was.
 *
 * A batch that the database refuses to write is halved until the culprit stands alone, and only the culprit is
 * rejected. Commands of one account keep their order.
 *
 * @throws AppError `DEPENDENCY_UNAVAILABLE` while the database is away: nobody knows the outcome, ask again
 */
export async function executeBatch(
  db: Database,
  commands: readonly LedgerCommand[],
): Promise<Outcome[]> {
  return await writeOrHalve(commands, {
    write: (some) => executeOnce(db, some),
    blamesContent: isToBlame,
    alone: (command, refusal) => executeAlone(db, command, refusal),
  });
}

async function executeOnce(db: Database, commands: readonly LedgerCommand[]): Promise<Outcome[]> {
  return await db.transaction(async (tx) => {
    const state = await lockBatch(tx, commands);
    const { outcomes, writes } = decideBatch(state, commands);
    await writeBatch(tx, writes);
    return outcomes;
  });
}

/**
 * Two owners may name one command, hold or resource at the same time, which no lock of theirs keeps apart: the loser
 * is refused by a key and reads by whom when it is executed again.
 */
async function executeAlone(
  db: Database,
  command: LedgerCommand,
  refusal: unknown,
): Promise<Outcome> {
  try {
    const [outcome] = await executeOnce(db, [command]);
    return outcome!;
  } catch (error) {
    if (!isToBlame(error)) throw error;
    const { code, constraint } = refusal as { code?: string; constraint?: string };
    const cause = constraint ?? code ?? (refusal as Error).name;
    const message = `command ${command.commandId} cannot be written: ${cause}`;
    return { kind: 'rejected', reason: 'unwritable', message };
  }
}

/**
 * A statement that the database refused for its values, an event that its own schema refuses, or a command that our
 * own program fails on. Other errors of the database blame no command.
 */
function isToBlame(error: unknown): boolean {
  return error instanceof z.ZodError || isBug(error) || blamesContent(error);
}
