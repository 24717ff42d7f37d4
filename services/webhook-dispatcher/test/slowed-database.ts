import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '@pixmesh/postgres/pool';

/** The database with a pause before each statement. */
export function slowed(db: Database, pausesMs: readonly number[]): Database {
  let asked = 0;
  const pause = async (): Promise<void> => {
    const ms = pausesMs[asked] ?? 0;
    asked += 1;
    if (ms > 0) await delay(ms);
  };
  return {
    ...db,
    query: async (statement) => {
      await pause();
      return await db.query(statement);
    },
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          inTransaction: true,
          query: async (statement) => {
            await pause();
            return await tx.query(statement);
          },
        }),
      ),
  };
}
