import type { Database } from './pool.ts';
import { named, sql } from './sql.ts';

/** Of each pool; what more is needed is opened as it is needed. */
const CONNECTIONS_AT_START = 4;
const PING = named('opened', sql`select 1 as opened`);

/**
 * Opens connections before a process takes work. A process that has just started is slow at everything that it does for
 * the first time; a burst that found no connection would open them all at once, and some would take longer than a
 * caller of the pool waits. A database that is away holds up no start: readiness answers for it.
 */
export async function openConnections(...pools: readonly Database[]): Promise<void> {
  const pings = pools.flatMap((db) =>
    Array.from({ length: CONNECTIONS_AT_START }, () => db.query(PING)),
  );
  await Promise.allSettled(pings);
}
