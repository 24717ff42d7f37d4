import type { Logger } from '@pixmesh/telemetry/logger';

import type { Database } from './pool.ts';
import { named, sql } from './sql.ts';

/**
 * Says at the start of a process whether its pools still fit into what Postgres has left. What other processes may yet
 * open nobody can see, so it is a warning: processes x pools of all services have to stay below `max_connections`.
 */
export async function checkConnectionBudget(deps: {
  db: Database;
  logger: Logger;
  /** The sizes of all pools of this process together. */
  wanted: number;
}): Promise<void> {
  const { db, logger, wanted } = deps;
  const budget = await readBudget(db).catch(() => null);
  if (budget === null || wanted <= budget.max - budget.held) return;
  logger.warn({ wanted, ...budget }, 'more database connections wanted than Postgres has left');
}

/** What roles without privileges may hold, and what is held now, all databases and roles together. */
async function readBudget(db: Database): Promise<{ max: number; held: number } | null> {
  const [row] = await db.query<{ max: number; held: number }>(
    named(
      'connection_budget',
      sql`
        select
          current_setting('max_connections')::int
            - current_setting('superuser_reserved_connections')::int
            - current_setting('reserved_connections')::int as max,
          (select sum(numbackends)::int from pg_stat_database) as held`,
    ),
  );
  return row ?? null;
}
