import { timeOfId } from '@pixmesh/kernel/ids';
import { observedGauge } from '@pixmesh/telemetry/metrics';

import type { Database } from './pool.ts';
import { named, sql } from './sql.ts';

/** A gauge of each table that is partitioned by UUIDv7: for how long rows still find a partition. */
export function observePartitions(db: Database, tables: readonly string[]): void {
  observedGauge('partitions_ahead_seconds', 'How far ahead the partitions of a table stand', () =>
    Promise.all(
      tables.map(async (table) => ({
        value: await readAheadSeconds(db, table),
        attributes: { table },
      })),
    ),
  );
}

/** Until the end of the last partition, by the ids that it takes. */
async function readAheadSeconds(db: Database, table: string): Promise<number> {
  const [row] = await db.query<{ end: string | null }>(
    named(
      'partitions_end',
      sql`
        select max(substring(pg_get_expr(relpartbound, oid) from 'TO \\(''([0-9a-f-]+)''\\)')) as "end"
        from pg_inherits
        join pg_class on oid = inhrelid
        where inhparent = ${table}::regclass`,
    ),
  );
  return row?.end ? (timeOfId(row.end).getTime() - Date.now()) / 1000 : 0;
}
