import { createPool, type Database } from '@pixmesh/postgres/pool';
import { AppError } from '@pixmesh/kernel/app-error';

import { createLedgerEngine, type LedgerEngine } from '#engine/ledger-engine.ts';
import type { OracleCommand } from '#test/oracle-books.ts';

import {
  type CrashingDatabase,
  crashingDatabase,
  type CrashPlace,
  ProcessDied,
} from './crashing-database.ts';
import { type Reply, toLedgerCommand, toReply } from './model-vocabulary.ts';
import type { SeededRandom } from './seeded-random.ts';

const CONNECTIONS = 4;
const DEATH_RATE = 0.01;
const LOSS_RATE = 0.03;

/** How the processes of a run are made; a planted bug changes one of these. */
export type ProcessParts = {
  /** What the service sees of its database. */
  tamper(db: Database): Database;
  createEngine: typeof createLedgerEngine;
};

export const REAL_PARTS: ProcessParts = {
  tamper: (db) => db,
  createEngine: createLedgerEngine,
};

export type ModelProcess = AsyncDisposable & {
  /** Hands a command in; null when its outcome stays unknown. */
  submit(command: OracleCommand): Promise<Reply | null>;
  readonly hits: Map<CrashPlace, number>;
};

/**
 * One process of the service: an engine on a pool of its own. When it dies it starts again at once, as its
 * supervisor would do, and knows nothing of what it did before.
 */
export function startModelProcess(
  url: string,
  random: SeededRandom,
  { crashes, parts = REAL_PARTS }: { crashes: boolean; parts?: ProcessParts },
): ModelProcess {
  const pool = createPool({ url, applicationName: 'ledger-model', max: CONNECTIONS });
  const hits = new Map<CrashPlace, number>();
  let running = boot();
  return { submit, hits, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };

  async function submit(command: OracleCommand): Promise<Reply | null> {
    if (running.database.isDead) running = boot();
    try {
      return toReply(await running.engine.submit(toLedgerCommand(command)));
    } catch (error) {
      if (!isUnknown(error)) throw error;
      return null;
    }
  }

  function boot(): { database: CrashingDatabase; engine: LedgerEngine } {
    const rates = crashes ? [DEATH_RATE, LOSS_RATE] : [0, 0];
    const [deathRate = 0, lossRate = 0] = rates;
    const database = crashingDatabase(pool, { random, deathRate, lossRate, hits });
    const db = parts.tamper(database.db);
    const writers = 1 + random.below(4);
    return { database, engine: parts.createEngine({ db, wakeOutbox: () => undefined, writers }) };
  }
}

function isUnknown(error: unknown): boolean {
  if (error instanceof ProcessDied) return true;
  return error instanceof AppError && error.code === 'DEPENDENCY_UNAVAILABLE';
}
