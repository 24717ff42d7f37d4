import type { PayoutStop } from '@pixmesh/contracts/internal/payout-stops';
import { newId, type OperatorId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { StopCount } from '#reports.ts';

/** A stop as stored. */
export type StopRow = {
  id: string;
  /** Null: all accounts. */
  accountId: string | null;
  reason: string;
  setBy: string;
  createdAt: Date;
  endedAt: Date | null;
  endedBy: OperatorId | null;
  /** The oldest of those that were seen under it. */
  breaks: PayoutStop['breaks'];
};

const BREAKS_SHOWN = 20;

const COLUMNS = sql`
  id, account_id as "accountId", reason, set_by as "setBy", created_at as "createdAt", ended_at as "endedAt",
  ended_by as "endedBy",
  (
    select coalesce(json_agg(seen), '[]')
    from (
      select service, check_name as check, kind, break_id as id,
        to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as since
      from payout_stop_breaks
      where stop_id = payout_stops.id
      order by payout_stop_breaks.since, break_id
      limit ${BREAKS_SHOWN}
    ) as seen
  ) as breaks`;

/** Sets a stop; null where one is in force already, by the unique index `payout_stops_in_force`. */
export async function insertStop(
  db: Queryable,
  stop: Pick<StopRow, 'accountId' | 'reason' | 'setBy'>,
): Promise<StopRow | null> {
  const rows = await db.query<StopRow>(
    named(
      'payout_stop_insert',
      sql`
        insert into payout_stops (id, account_id, reason, set_by)
        values (${newId()}, ${stop.accountId}, ${stop.reason}, ${stop.setBy})
        on conflict (account_id) where ended_at is null do nothing
        returning ${COLUMNS}`,
    ),
  );
  return rows[0] ?? null;
}

/** Ends the stop of an account, or of all; null where none is in force. Locks its row. */
export async function endStop(
  db: Queryable,
  accountId: string | null,
  endedBy: OperatorId,
): Promise<StopRow | null> {
  const rows = await db.query<StopRow>(
    named(
      'payout_stop_end',
      sql`
        update payout_stops
        set ended_at = now(), ended_by = ${endedBy}
        where account_id is not distinct from ${accountId}::uuid and ended_at is null
        returning ${COLUMNS}`,
    ),
  );
  return rows[0] ?? null;
}

/** The stop of an account, or of all: the one in force, or the one that ended last. */
export async function findLatestStop(
  db: Queryable,
  accountId: string | null,
): Promise<StopRow | null> {
  const rows = await db.query<StopRow>(
    named(
      'payout_stop_latest',
      sql`
        select ${COLUMNS}
        from payout_stops
        where account_id is not distinct from ${accountId}::uuid
        order by ended_at desc nulls first
        limit 1`,
    ),
  );
  return rows[0] ?? null;
}

export type StopFilters = {
  accountId: string | undefined;
  status: 'in_force' | 'ended' | undefined;
};

/** One page, newest first. Reads the primary key; stops are few. */
export async function listStops(
  db: Queryable,
  { accountId, status }: StopFilters,
  page: { limit: number; startingAfter: string | null },
): Promise<StopRow[]> {
  return await db.query<StopRow>(
    named(
      'payout_stop_list',
      sql`
        select ${COLUMNS}
        from payout_stops
        where (${page.startingAfter}::uuid is null or id < ${page.startingAfter}::uuid)
          and (${accountId ?? null}::uuid is null or account_id = ${accountId ?? null}::uuid)
          and (${status ?? null}::text is null or (${status ?? null}::text = 'ended') = (ended_at is not null))
        order by id desc
        limit ${page.limit}`,
    ),
  );
}

export async function stopExists(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(
    named('payout_stop_exists', sql`select from payout_stops where id = ${id}`),
  );
  return rows.length === 1;
}

/** How many stops are in force, by whether an operator or reconciliation has set them. For metrics. */
export async function countStops(db: Queryable): Promise<StopCount[]> {
  return await db.query(
    named(
      'payout_stop_count',
      sql`
        select cause, count(stop.id)::int as count
        from unnest(array['operator', 'reconciliation']) as cause
        left join payout_stops as stop
          on ended_at is null and (set_by = 'reconciliation') = (cause = 'reconciliation')
        group by cause`,
    ),
  );
}
