import { setTimeout as delay } from 'node:timers/promises';

import { withClient } from '../durable-server.ts';
import { readSchemaBytes } from '../table-figures.ts';
import { DISPATCHER_SCHEMA } from './dispatcher-process.ts';

/** Sessions report what they did at most once a second, and when they come to rest. */
const STATISTICS_DELAY_MS = 1_500;

/** What the database has done so far. */
export type DatabaseCounters = { commits: number; walBytes: number };

/** Commits of every kind, also of statements that only read. */
export async function readCounters(url: string): Promise<DatabaseCounters> {
  await delay(STATISTICS_DELAY_MS);
  return await withClient(url, async (client) => {
    const { rows } = await client.query<{ commits: string; wal_bytes: string }>(
      `select xact_commit as commits, pg_current_wal_lsn() - '0/0'::pg_lsn as wal_bytes
       from pg_stat_database where datname = current_database()`,
    );
    return { commits: Number(rows[0]?.commits), walBytes: Number(rows[0]?.wal_bytes) };
  });
}

/** Bytes of all the dispatcher's tables with their indexes, dead rows removed. */
export async function readStoredBytes(url: string): Promise<number> {
  return await readSchemaBytes(url, DISPATCHER_SCHEMA);
}
