import { AppError } from '@pixmesh/kernel/app-error';
import type { Database, Queryable } from '@pixmesh/postgres/pool';

import type { SeededRandom } from './seeded-random.ts';

/** The process is gone: whoever waited in it never gets an answer. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied';
}

/** A database as one process of the service sees it. */
export type CrashingDatabase = {
  db: Database;
  readonly isDead: boolean;
};

export type CrashPlace = 'before statement' | 'after statement' | 'before commit' | 'after commit';

type Faults = {
  random: SeededRandom;
  /** Probability, at each place, that the process dies there. */
  deathRate: number;
  /** Probability, at each place, that the connection is lost there: the process lives, and knows nothing. */
  lossRate: number;
  /** How often each place was hit, so that a place that is never hit shows. */
  hits: Map<CrashPlace, number>;
};

/**
 * Crash at every await: each statement and each commit may be the last thing that happens. Before it, nothing has
 * been written; after a commit, everything has, and nobody was answered. A dead process never reaches the database
 * again, as after `kill -9`; its transaction in progress rolls back, as the server does when the connection ends.
 */
export function crashingDatabase(database: Database, faults: Faults): CrashingDatabase {
  let isDead = false;
  const db: Database = {
    query: (statement) => around(database, statement),
    transaction: async (work) => {
      assertAlive();
      const result = await database.transaction(async (tx) => {
        const done = await work({
          inTransaction: true,
          query: (statement) => around(tx, statement),
        });
        maybeCrash('before commit');
        return done;
      });
      maybeCrash('after commit');
      return result;
    },
    snapshot: (read) =>
      database.snapshot((tx) => read({ query: (statement) => around(tx, statement) })),
    [Symbol.asyncDispose]: async () => undefined,
  };
  return {
    db,
    get isDead() {
      return isDead;
    },
  };

  async function around<Row extends object>(
    queryable: Queryable,
    statement: Parameters<Queryable['query']>[0],
  ): Promise<Row[]> {
    assertAlive();
    maybeCrash('before statement');
    const rows = await queryable.query<Row>(statement);
    maybeCrash('after statement');
    return rows;
  }

  function maybeCrash(place: CrashPlace): void {
    assertAlive();
    const draw = faults.random.fraction();
    if (draw >= faults.deathRate + faults.lossRate) return;
    faults.hits.set(place, (faults.hits.get(place) ?? 0) + 1);
    if (draw < faults.deathRate) isDead = true;
    assertAlive();
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message: `connection lost ${place}` });
  }

  function assertAlive(): void {
    if (isDead) throw new ProcessDied('this process is dead');
  }
}
