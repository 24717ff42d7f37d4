import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { incompleteIdOf } from './breaks.sql.ts';
import { IS_LEFT_TO_FULL_RUNS } from './runs.sql.ts';

/**
 * Who runs. Incremental and full runs have a lease each, one row that is locked for a moment: a full run may take hours
 * and holds up no incremental one.
 */
export type Lease = { kind: 'incremental' | 'full'; token: string };

const TABLES = {
  incremental: sql`reconciliation_lease`,
  full: sql`reconciliation_full_lease`,
} as const;

/** A replica that dies in a run is followed after this long; the run itself may take any time. */
export const LEASE_MS = 30_000;

/** Takes the lease of incremental runs if it is free and a run is due; with `evenIfNotDue` also where none is. */
export async function takeIncrementalLease(
  db: Queryable,
  { token, evenIfNotDue }: { token: string; evenIfNotDue: boolean },
): Promise<boolean> {
  const rows = await db.query(
    named(
      'reconciliation_take_incremental_lease',
      sql`
        update reconciliation_lease
        set lease_token = ${token}, lease_until = now() + ${LEASE_MS}::int * interval '1 ms'
        where (lease_until is null or lease_until <= now())
          and (${evenIfNotDue}::boolean or due_at <= now())
        returning only_row`,
    ),
  );
  return rows.length === 1;
}

/**
 * Takes the lease of full runs if it is free and a run is due. Returns the names of the checks to run; null where
 * nothing was taken.
 *
 * A check is due when its newest full run is older than `fullIntervalMs`, or than the request of a run, or when it has to
 * compare everything, or is left to full runs and no incremental one is
 * under way, which might be the first of the installation. What a run that ended has left to do is due
 * `intervalMs` later; a new request, and a run that did not end, are due at once.
 */
export async function takeFullLease(
  db: Queryable,
  run: { token: string; names: readonly string[]; fullIntervalMs: number; intervalMs: number },
): Promise<string[] | null> {
  const [row] = await db.query<{ names: string[] }>(
    named(
      'reconciliation_take_full_lease',
      sql`
        with due as (
          select name
          from unnest(${run.names}::text[]) as name
          cross join reconciliation_full_lease
          cross join reconciliation_lease as incremental
          left join reconciliation_runs on check_name = name
          where (${IS_LEFT_TO_FULL_RUNS} and coalesce(incremental.lease_until <= now(), true))
            or full_at <= now() - ${run.fullIntervalMs}::float8 * interval '1 ms'
            or (requested_at is not null and coalesce(full_at < requested_at, true))
            or exists (
              select
              from reconciliation_breaks as stored
              where stored.check_name = name and id = name || ${incompleteIdOf('')}
            )
        )
        update reconciliation_full_lease
        set lease_token = ${run.token},
            lease_until = now() + ${LEASE_MS}::int * interval '1 ms',
            started_at = now(),
            compared = 0
        where (lease_until is null or lease_until <= now())
          and (requested_at is not null or exists (select from due))
          and (
            finished_at is null
            or finished_at < started_at
            or requested_at >= started_at
            or finished_at <= now() - ${run.intervalMs}::int * interval '1 ms'
          )
        returning array(select name from due) as names`,
    ),
  );
  return row?.names ?? null;
}

/** Requests a full run that begins from now on. */
export async function requestFullRun(db: Queryable): Promise<void> {
  await db.query(
    named(
      'reconciliation_request_full',
      sql`update reconciliation_full_lease set requested_at = now()`,
    ),
  );
}

/** Keeps the lease; false when another has taken it. */
export async function renewLease(db: Queryable, { kind, token }: Lease): Promise<boolean> {
  const rows = await db.query(
    named(
      `reconciliation_renew_${kind}_lease`,
      sql`
        update ${TABLES[kind]}
        set lease_until = now() + ${LEASE_MS}::int * interval '1 ms'
        where lease_token = ${token}
        returning only_row`,
    ),
  );
  return rows.length === 1;
}

/**
 * Locks the lease for the transaction, if it is still the run's, so no write that follows comes from a run that has
 * lost its lease.
 */
export async function lockLease(tx: Transaction, { kind, token }: Lease): Promise<boolean> {
  const rows = await tx.query(
    named(
      `reconciliation_lock_${kind}_lease`,
      sql`select from ${TABLES[kind]} where lease_token = ${token} for update`,
    ),
  );
  return rows.length === 1;
}

/** Counts what a check of the full run under way has compared; in the transaction that holds the lease's row. */
export async function countCompared(tx: Transaction, compared: number): Promise<void> {
  await tx.query(
    named(
      'reconciliation_count_compared',
      sql`update reconciliation_full_lease set compared = compared + ${compared}`,
    ),
  );
}

/** Ends an incremental run that finished: the lease is free, and the next run is due after `dueInMs`. */
export async function finishIncrementalRun(
  db: Queryable,
  run: { token: string; dueInMs: number },
): Promise<void> {
  await db.query(
    named(
      'reconciliation_finish_incremental',
      sql`
        update reconciliation_lease
        set lease_token = null,
            lease_until = null,
            due_at = now() + ${run.dueInMs}::int * interval '1 ms',
            finished_at = now()
        where lease_token = ${run.token}`,
    ),
  );
}

/** Ends a full run that finished. One that was requested meanwhile is still to be made. */
export async function finishFullRun(db: Queryable, token: string): Promise<void> {
  await db.query(
    named(
      'reconciliation_finish_full',
      sql`
        update reconciliation_full_lease
        set lease_token = null,
            lease_until = null,
            requested_at = case when requested_at >= started_at then requested_at end,
            finished_at = now()
        where lease_token = ${token}`,
    ),
  );
}

/** Releases the lease without a finished run: another replica may begin at once. */
export async function releaseLease(db: Queryable, { kind, token }: Lease): Promise<void> {
  await db.query(kind === 'full' ? releaseFull(token) : releaseIncremental(token));
}

function releaseIncremental(token: string): Statement {
  return named(
    'reconciliation_release_incremental',
    sql`
      update reconciliation_lease
      set lease_token = null, lease_until = null, due_at = least(due_at, now())
      where lease_token = ${token}`,
  );
}

function releaseFull(token: string): Statement {
  return named(
    'reconciliation_release_full',
    sql`
      update reconciliation_full_lease
      set lease_token = null, lease_until = null
      where lease_token = ${token}`,
  );
}
