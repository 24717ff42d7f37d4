import { endLease, isDue, takeLease } from '@pixmesh/postgres/due-rows';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { ListReading } from './list-reading.ts';
import type { ListRun } from './plan-windows.ts';

/** How far a list has been read; one row for all replicas, leased to one of them. */
export type ListCursor = {
  name: string;
  /** Whatever was shown before has been compared. */
  listedUntil: Date;
  /** The window in work. */
  run: ListRun | null;
  leaseToken: string;
  /** Database time of the lease. */
  readAt: Date;
};

/** Makes sure that the readings have their rows; one that is there stays as it is. */
export async function addListCursors(db: Queryable, names: readonly string[]): Promise<void> {
  await db.query(
    named(
      'add_list_cursors',
      sql`
        insert into acquirer_lists (name)
        select unnest(${names}::text[])
        on conflict (name) do nothing`,
    ),
  );
}

/** A walk has read what is older, whatever the clock said: it goes over all days in so long. */
const WALKED = sql`interval '1 hour'`;

type LeaseCursors = {
  readings: readonly Pick<ListReading<unknown>, 'name' | 'intervalMs'>[];
  limit: number;
  leaseMs: number;
};

/**
 * Leases the cursors that are due; none that another process reads. A clock that was ahead and is set back leaves
 * cursors in the future. They are due at once, also where a lease of that time holds them: the poll of due work does not
 * see that, the job's own poll does. Nobody knows since when the clock was ahead, so what they say was compared goes
 * back to what a walk has read.
 */
export async function leaseListCursors(
  db: Queryable,
  { readings, limit, leaseMs }: LeaseCursors,
): Promise<ListCursor[]> {
  const rows = await db.query<CursorRecord>(
    named(
      'lease_list_cursors',
      sql`
        with due as (
          select name as due_name
          from acquirer_lists
          join unnest(
              ${readings.map(({ name }) => name)}::text[],
              ${readings.map(({ intervalMs }) => intervalMs)}::float8[]
            ) as reading (name, interval_ms) using (name)
          where (${isDue('routine')})
            or listed_until > now()
            or check_at > now() + (interval_ms + ${leaseMs}::float8) * interval '1 ms'
          order by check_at
          limit ${limit}
          for update of acquirer_lists skip locked
        )
        update acquirer_lists
        set ${takeLease(leaseMs)},
            listed_until = case when listed_until > now() then now() - ${WALKED} else listed_until end
        from due
        where name = due_name
        returning
          name, listed_until, window_from, window_to, began_at, page, lease_token,
          date_trunc('milliseconds', now()) as read_at`,
    ),
  );
  return rows.map((row) => ({
    name: row.name,
    listedUntil: row.listed_until,
    run: toRun(row),
    leaseToken: row.lease_token,
    readAt: row.read_at,
  }));
}

type CursorRecord = {
  name: string;
  listed_until: Date;
  window_from: Date | null;
  window_to: Date | null;
  began_at: Date | null;
  page: number;
  lease_token: string;
  read_at: Date;
};

function toRun(row: CursorRecord): ListRun | null {
  const { window_from: from, window_to: to, began_at: beganAt, page } = row;
  return from && to && beganAt ? { window: { from, to }, beganAt, page } : null;
}

/** Keeps the pages read so far, and the lease for another page; false for a process that has lost it. */
export async function storeListRun(
  db: Queryable,
  cursor: ListCursor,
  { run, leaseMs }: { run: ListRun; leaseMs: number },
): Promise<boolean> {
  const rows = await db.query(
    named(
      'store_list_run',
      sql`
        update acquirer_lists
        set window_from = ${run.window.from}, window_to = ${run.window.to},
            began_at = ${run.beganAt}, page = ${run.page},
            lease_until = now() + ${leaseMs}::int * interval '1 ms',
            check_at = now() + ${leaseMs}::int * interval '1 ms'
        where name = ${cursor.name} and lease_token = ${cursor.leaseToken}
        returning name`,
    ),
  );
  return rows.length === 1;
}

/** Keeps what has been read; a process that lost its lease moves nothing. */
export async function moveListCursor(
  db: Queryable,
  cursor: ListCursor,
  next: Pick<ListCursor, 'listedUntil' | 'run'> & { inMs: number },
): Promise<void> {
  const { run } = next;
  await db.query(
    named(
      'move_list_cursor',
      sql`
        update acquirer_lists
        set listed_until = ${next.listedUntil},
            window_from = ${run?.window.from ?? null}, window_to = ${run?.window.to ?? null},
            began_at = ${run?.beganAt ?? null}, page = ${run?.page ?? 0},
            ${endLease(next.inMs)}
        where name = ${cursor.name} and lease_token = ${cursor.leaseToken}`,
    ),
  );
}

/** Ends a run that could not read; the pages before, if it stored any, stay read. */
export async function releaseListCursor(
  db: Queryable,
  cursor: ListCursor,
  inMs: number,
): Promise<void> {
  await db.query(
    named(
      'release_list_cursor',
      sql`
        update acquirer_lists
        set ${endLease(inMs)}
        where name = ${cursor.name} and lease_token = ${cursor.leaseToken}`,
    ),
  );
}

/**
 * Seconds since whatever was shown before had been compared, by the name of the reading. A reading in the future, by a
 * clock that was set back, is as far off.
 */
export async function listLags(db: Queryable): Promise<{ name: string; seconds: number }[]> {
  return await db.query(
    named(
      'find_list_lags',
      sql`
        select name, abs(extract(epoch from now() - listed_until))::float8 as seconds
        from acquirer_lists`,
    ),
  );
}
