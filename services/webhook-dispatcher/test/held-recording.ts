import type { Database } from '@pixmesh/postgres/pool';

export type HeldRecording = {
  db: Database;
  /** Outcomes are stored from now on, those that wait included. */
  release(): void;
};

/** The real database, which stores no outcome until it is released and answers everything else. */
export function holdRecording(real: Database): HeldRecording {
  const held = Promise.withResolvers<void>();
  const db: Database = {
    ...real,
    query: async (statement) => {
      if (statement.name?.startsWith('outcomes_record') === true) await held.promise;
      return await real.query(statement);
    },
  };
  return { db, release: held.resolve };
}
