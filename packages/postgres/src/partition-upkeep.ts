import { timeOfId } from '@pixmesh/kernel/ids';
import { type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { Logger } from '@pixmesh/telemetry/logger';
import { observedGauge } from '@pixmesh/telemetry/metrics';

import type { Database } from './pool.ts';
import { named, sql } from './sql.ts';

/** Partitions stand this far ahead, so that upkeep may fail for months before a row finds none. */
const MONTHS_AHEAD = 12;
const CHECK_INTERVAL_MS = 60 * 60 * 1000;
/** A reader's transaction that is in the way ends sooner than an hour. */
const RETRY = { firstMs: 5_000, maxMs: CHECK_INTERVAL_MS };

/**
 * Keeps the monthly partitions of `events` a year ahead, apart from what publishes: whatever upkeep waits for,
 * messages go on. The gauge says for how long rows still find a partition.
 */
export function startPartitionUpkeep({
  db,
  logger,
}: {
  db: Database;
  logger: Logger;
}): PollingLoop {
  observedGauge(
    'partitions_ahead_seconds',
    'How far ahead the partitions of a table stand',
    async () => [{ value: await readAheadSeconds(db), attributes: { table: 'events' } }],
  );
  return startPollingLoop({
    name: 'partition upkeep',
    logger,
    retry: RETRY,
    turn: async () => {
      await ensureEventPartitions(db);
      return { pauseMs: CHECK_INTERVAL_MS };
    },
  });
}

/** Creates the partitions of the months to come; the function runs with the rights of the schema's owner. */
export async function ensureEventPartitions(db: Database): Promise<void> {
  await db.query(named('event_partitions', sql`select ensure_event_partitions(${MONTHS_AHEAD})`));
}

/** Until the end of the last partition, by the ids that it takes. */
async function readAheadSeconds(db: Database): Promise<number> {
  const [row] = await db.query<{ end: string | null }>(
    named(
      'event_partitions_end',
      sql`
        select max(substring(pg_get_expr(relpartbound, oid) from 'TO \\(''([0-9a-f-]+)''\\)')) as "end"
        from pg_inherits
        join pg_class on oid = inhrelid
        where inhparent = 'events'::regclass`,
    ),
  );
  return row?.end ? (timeOfId(row.end).getTime() - Date.now()) / 1000 : 0;
}
