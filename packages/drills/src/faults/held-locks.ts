import pg from 'pg';

import type { Drill } from '../drill.ts';

/** A session that takes locks by a statement and is then forgotten in its transaction. */
export function heldLocks(statement: string): Pick<Drill, 'cause' | 'end'> {
  let holder: pg.Client | undefined;
  return {
    cause: async (mesh) => {
      holder = new pg.Client({ connectionString: mesh.stack().postgres_url });
      await holder.connect();
      await holder.query('begin');
      await holder.query(statement);
    },
    // As `pg_terminate_backend` ends it.
    end: async () => await holder?.end(),
  };
}
