import type { Queryable } from './pool.ts';
import { named, sql } from './sql.ts';

/** By the server's clock, in seconds; and whether its log is not archived. */
export type ServerRow = { now: number; isArchiveFailing: boolean };

/**
 * Archiving fails where the last attempt did. It hangs, which is counted nowhere, where a whole segment waits and none
 * was archived for so long. The view of the archiver has one row, and every role may read it.
 */
export async function readServerState(
  db: Queryable,
  { archiveSecondsMax }: { archiveSecondsMax: number },
): Promise<ServerRow | undefined> {
  const [row] = await db.query<ServerRow>(
    named(
      'server_state',
      sql`
        select
          extract(epoch from clock_timestamp())::float8 as now,
          case
            when last_failed_time > coalesce(last_archived_time, '-infinity') then true
            when current_setting('archive_mode') = 'off' or pg_is_in_recovery() then false
            when coalesce(last_archived_time, stats_reset) > now() - make_interval(secs => ${archiveSecondsMax}) then false
            else coalesce(substr(last_archived_wal, 9, 16), '0000000000000000') collate "C" < substr(
              pg_walfile_name(pg_current_wal_lsn() - pg_size_bytes(current_setting('wal_segment_size'))), 9, 16
            )
          end as "isArchiveFailing"
        from pg_stat_archiver`,
    ),
  );
  return row;
}
