import { newId } from '@pixmesh/kernel/ids';

import { sql, type Statement } from './sql.ts';

/**
 * Fragments for tables whose rows are checked when they are due: `check_at` says when (`-infinity`: before
 * all others, because a check was requested), `checks` how often in vain, `lease_token` and `lease_until` who checks
 * now.
 */

/** Checks that were requested come before every routine check. */
export type Urgency = 'requested' | 'routine';

/** Rows that nobody checks now; a check that never ended is taken over when its lease ends. */
export const IS_FREE = sql`(lease_until is null or lease_until <= now())`;

/** The condition of a due row. Order by `check_at`, `for update skip locked`. */
export function isDue(urgency: Urgency): Statement {
  return sql`check_at <= ${urgency === 'requested' ? '-infinity' : 'now'}::timestamptz and ${IS_FREE}`;
}

/**
 * Whether the first entry of the table's index on `check_at` is due, by an order: for `exists` the whole table might be
 * read. A row that a callback leased may keep its `check_at`, and then counts until its check ends.
 */
export function hasDue(table: Statement): Statement {
  return sql`(select check_at from ${table} where check_at is not null order by check_at limit 1) <= now()`;
}

/** Where due rows stand. */
export type DueTable = {
  table: Statement;
  /** Its primary key, one column. */
  key: Statement;
  /** What is returned of a leased row, as it stands then. */
  columns: Statement;
};

type LeaseOptions = {
  limit: number;
  leaseMs: number;
  /** Default `routine`. */
  urgency?: Urgency;
};

/**
 * Leases up to `limit` due rows to the caller, most urgent first, and returns them. Reads an index on `check_at`; rows
 * that another process holds are skipped, and a check that never ends is taken over when its lease ends.
 */
export function leaseDue({ table, key, columns }: DueTable, options: LeaseOptions): Statement {
  const { limit, leaseMs, urgency = 'routine' } = options;
  return sql`
    with due as (
      select ${key} as due_id
      from ${table}
      where ${isDue(urgency)}
      order by check_at
      limit ${limit}
      for update skip locked
    )
    update ${table}
    set ${takeLease(leaseMs)}
    from due
    where ${key} = due_id
    returning ${columns}`;
}

/** Assignments that lease a row. A requested check is taken with it: a later request stands for itself. */
export function takeLease(leaseMs: number): Statement {
  return sql`
    lease_token = ${newId()}::uuid,
    lease_until = now() + ${leaseMs}::int * interval '1 ms',
    check_at = now() + ${leaseMs}::int * interval '1 ms'`;
}

/** Assignments that end a check which changed nothing; `nextInMs` null: only when asked. */
export function endLease(nextInMs: number | null): Statement {
  return sql`lease_token = null, lease_until = null, checks = checks + 1, ${nextCheck(nextInMs)}`;
}

/**
 * The next routine check, unless one was requested meanwhile. The column holds whole milliseconds and would
 * round up: what is due now is due to the next statement too.
 */
export function nextCheck(inMs: number | null): Statement {
  return sql`
    check_at = case
      when check_at = '-infinity' then check_at
      else date_trunc('milliseconds', now()) + ${inMs}::float8 * interval '1 ms'
    end`;
}
