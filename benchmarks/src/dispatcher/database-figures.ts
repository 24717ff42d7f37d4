import { setTimeout as delay } from 'node:timers/promises';

import { queryOnce } from '../durable-server.ts';

/** Sessions report what they did at most once a second, and when they come to rest. */
const STATISTICS_DELAY_MS = 1_500;

/** What the database has done so far; commits of every kind, also of statements that only read. */
export async function readCounters(url: string): Promise<{ commits: number; walBytes: number }> {
  await delay(STATISTICS_DELAY_MS);
  const [row] = await queryOnce<{ commits: string; wal_bytes: string }>(
    url,
    `select xact_commit as commits, pg_current_wal_lsn() - '0/0'::pg_lsn as wal_bytes
     from pg_stat_database where datname = current_database()`,
  );
  return { commits: Number(row?.commits), walBytes: Number(row?.wal_bytes) };
}
