import type { ChargeId } from '@pixmesh/kernel/ids';
import { endLease, isDue, takeLease } from '@pixmesh/postgres/due-rows';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** How far the list has been read; one row for all replicas, leased to one of them. */
export type ListCursor = {
  /** Everything paid before it has been compared. */
  listedUntil: Date;
  /** The window of older days in work; null: the walk over them begins anew. */
  sweepFrom: Date | null;
  sweepPage: number;
  /** The window that the last run did not finish, with the next page of it. */
  unfinished: ListRun | null;
  leaseToken: string;
  /** Database time of the lease. */
  readAt: Date;
};

/** A window whose ends stay the same until all of its pages are read. */
export type ListRun = {
  window: { from: Date; to: Date };
  /** When its first page was read: everything paid before has been compared when it is done. */
  readAt: Date;
  page: number;
};

/** Leases the cursor when it is due; empty while another process reads. */
export async function leaseListCursor(db: Queryable, leaseMs: number): Promise<ListCursor[]> {
  const rows = await db.query<CursorRecord>(
    named(
      'lease_received_list',
      sql`
        update received_list
        set ${takeLease(leaseMs)}
        where ${isDue('routine')}
        returning listed_until, sweep_from, sweep_page, lease_token,
          window_from, window_to, window_read_at, window_page,
          date_trunc('milliseconds', now()) as read_at`,
    ),
  );
  return rows.map((row) => ({
    listedUntil: row.listed_until,
    sweepFrom: row.sweep_from,
    sweepPage: row.sweep_page,
    unfinished: toUnfinished(row),
    leaseToken: row.lease_token,
    readAt: row.read_at,
  }));
}

type CursorRecord = {
  listed_until: Date;
  sweep_from: Date | null;
  sweep_page: number;
  window_from: Date | null;
  window_to: Date | null;
  window_read_at: Date | null;
  window_page: number;
  lease_token: string;
  read_at: Date;
};

function toUnfinished(row: CursorRecord): ListRun | null {
  const { window_from: from, window_to: to, window_read_at: readAt, window_page: page } = row;
  return from && to && readAt ? { window: { from, to }, readAt, page } : null;
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
        update received_list
        set window_from = ${run.window.from}, window_to = ${run.window.to},
            window_read_at = ${run.readAt}, window_page = ${run.page},
            lease_until = now() + ${leaseMs}::int * interval '1 ms',
            check_at = now() + ${leaseMs}::int * interval '1 ms'
        where lease_token = ${cursor.leaseToken}
        returning singleton`,
    ),
  );
  return rows.length === 1;
}

/** Keeps what has been read; a process that lost its lease moves nothing. */
export async function moveListCursor(
  db: Queryable,
  cursor: ListCursor,
  next: Pick<ListCursor, 'listedUntil' | 'sweepFrom' | 'sweepPage' | 'unfinished'> & {
    inMs: number;
  },
): Promise<void> {
  const { unfinished: run } = next;
  await db.query(
    named(
      'move_received_list',
      sql`
        update received_list
        set listed_until = ${next.listedUntil}, sweep_from = ${next.sweepFrom}, sweep_page = ${next.sweepPage},
            window_from = ${run?.window.from ?? null}, window_to = ${run?.window.to ?? null},
            window_read_at = ${run?.readAt ?? null}, window_page = ${run?.page ?? 0},
            ${endLease(next.inMs)}
        where lease_token = ${cursor.leaseToken}`,
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
      'release_received_list',
      sql`update received_list set ${endLease(inMs)} where lease_token = ${cursor.leaseToken}`,
    ),
  );
}

/** Seconds since everything that was paid before had been compared. */
export async function listLagSeconds(db: Queryable): Promise<number> {
  const [row] = await db.query<{ lag: number }>(
    named(
      'find_received_list_lag',
      sql`select extract(epoch from now() - listed_until)::float8 as lag from received_list`,
    ),
  );
  return row?.lag ?? 0;
}

/** A Pix of the list, as far as it is compared: the charge that its txid may name, and its returns carried out. */
export type ListedPix = {
  endToEndId: string;
  chargeId: ChargeId | null;
  returnIds: readonly string[];
};

export type Unrecorded = {
  /** Charges of ours that have a Pix, or a return of one, which is not recorded. */
  charges: ChargeId[];
  /** Pix, or returns of them, that no charge explains. */
  unexplained: string[];
};

/** What of a page of the list is not recorded here. Primary key reads, in one statement. */
export async function findUnrecorded(
  db: Queryable,
  page: readonly ListedPix[],
): Promise<Unrecorded> {
  if (page.length === 0) return { charges: [], unexplained: [] };
  const returns = page.flatMap(({ endToEndId, returnIds }) =>
    returnIds.map((returnId) => ({ endToEndId, returnId })),
  );
  const rows = await db.query<UnrecordedRow>(
    named(
      'find_unrecorded_pix',
      sql`
        with listed as (
          select * from unnest(
            ${page.map(({ endToEndId }) => endToEndId)}::text[],
            ${page.map(({ chargeId }) => chargeId)}::uuid[]
          ) as listed (end_to_end_id, charge_id)
        ),
        fresh as (
          select listed.end_to_end_id, charges.id as charge_id, charges.status is distinct from 'failed' as is_explained
          from listed
          left join charges on charges.id = listed.charge_id
          where not exists (
            select from received_pix where received_pix.end_to_end_id = listed.end_to_end_id
          )
        ),
        returned as (
          select received_pix.end_to_end_id, received_pix.charge_id, true as is_explained
          from unnest(
            ${returns.map(({ endToEndId }) => endToEndId)}::text[],
            ${returns.map(({ returnId }) => returnId)}::text[]
          ) as returned (end_to_end_id, return_id)
          join received_pix using (end_to_end_id)
          where not exists (
            select from pix_returns
            where pix_returns.end_to_end_id = returned.end_to_end_id
              and pix_returns.return_id = returned.return_id
          )
        )
        select end_to_end_id, charge_id, is_explained from fresh
        union
        select end_to_end_id, charge_id, is_explained from returned`,
    ),
  );
  const charges = rows.flatMap(({ charge_id }) => (charge_id === null ? [] : [charge_id]));
  return {
    charges: [...new Set(charges)],
    unexplained: rows.flatMap((row) =>
      row.charge_id === null || !row.is_explained ? [row.end_to_end_id] : [],
    ),
  };
}

type UnrecordedRow = {
  end_to_end_id: string;
  charge_id: ChargeId | null;
  /** Whether a check of its charge may show it: one that failed may never have been issued. */
  is_explained: boolean;
};
