import type { AccountId } from '@pixmesh/kernel/ids';

import { accountsInTurn, BEFORE_ALL_ACCOUNTS } from './accounts-in-turn.ts';
import { type DueTable, isDue, takeLease, type Urgency } from './due-rows.ts';
import { sql, type Statement } from './sql.ts';

/** Routine checks take turns among so many rows that have been due for longest. */
const ROUTINE_WINDOW = 1_000;
/** To find these where accounts are left out, so many are read: beyond it, the rows of others wait behind those. */
const ROUTINE_READ_MAX = 20_000;
/** Candidates for each row that is wanted: other processes may hold some of them. */
const SPARE = 2;

export type LeaseTurn = {
  limit: number;
  leaseMs: number;
  /** The account served last; routine checks go by what has been due for longest instead. */
  after?: AccountId;
  /** Accounts that take no turn. */
  except?: readonly string[];
};

type TurnOptions = LeaseTurn & {
  urgency: Urgency;
  /** A further condition, best that of a partial index on `check_at`. */
  only?: Statement;
};

/** Where due rows of accounts stand. */
export type TurnTable = DueTable & {
  /** Whose turn a row takes, as its index has it. Default: `account_id`. */
  account?: Statement;
};

/**
 * Leases up to `limit` due rows of a table: one of every account that has any, then a second one of each. Requested
 * checks walk a partial index on the account of the rows whose `check_at` is `-infinity`; routine checks read an index on
 * `check_at` of all others, and have turns among those that have been due for longest. Rows that another process holds
 * are skipped.
 */
export function leaseDueInTurn(due: TurnTable, options: TurnOptions): Statement {
  return options.urgency === 'requested'
    ? leaseByAccount(due, options)
    : leaseRoutine(due, options);
}

/**
 * The same for a table with a partial index on the account and `check_at` of the rows of `only`: also routine checks
 * walk over accounts, so rows of one account hide no other's, however many they are.
 */
export function leaseByAccount(due: TurnTable, options: TurnOptions): Statement {
  const { table, key, account = sql`account_id` } = due;
  const { urgency, limit, after = BEFORE_ALL_ACCOUNTS, except = [], only = sql`true` } = options;
  const isAsked =
    urgency === 'requested' ? sql`check_at = '-infinity'` : sql`check_at > '-infinity'`;
  const isWork = sql`${isAsked} and ${isDue(urgency)} and ${only}`;
  return sql`
    with recursive ${accountsInTurn({ table, isWork, after, limit: limit + except.length, account })},
    ranked as (
      select of_account.ranked_id, of_account.lap, ring.turn
      from ring
      cross join lateral (
        select candidate.id as ranked_id, row_number() over (order by candidate.check_at) as lap
        from (
          select ${key} as id, check_at
          from ${table}
          where ${account} = ring.ring_account and ${isWork}
          order by check_at
          limit ${limit}::int
        ) as candidate
      ) as of_account
      where ring.turn > 0 and ring.ring_account <> all (${except}::uuid[])
      order by of_account.lap, ring.turn
      limit ${limit * SPARE}::int
    ),
    ${lockAndLease(due, { isDue: isWork, order: sql`lap, turn`, ...options })}`;
}

function leaseRoutine(due: TurnTable, options: TurnOptions): Statement {
  const { table, key, account = sql`account_id` } = due;
  const { limit, except = [], only = sql`true` } = options;
  const isRoutine = sql`${isDue('routine')} and check_at > '-infinity' and ${only}`;
  return sql`
    with oldest as (
      select oldest_id, oldest_account, check_at
      from (
        select ${key} as oldest_id, ${account} as oldest_account, check_at
        from ${table}
        where ${isRoutine}
        order by check_at
        limit ${except.length === 0 ? ROUTINE_WINDOW : ROUTINE_READ_MAX}::int
      ) as read
      where oldest_account <> all (${except}::uuid[])
      order by check_at
      limit ${ROUTINE_WINDOW}::int
    ),
    ranked as (
      select
        oldest_id as ranked_id, check_at as ranked_at,
        row_number() over (partition by oldest_account order by check_at) as lap
      from oldest
      order by lap, ranked_at
      limit ${limit * SPARE}::int
    ),
    ${lockAndLease(due, { isDue: isRoutine, order: sql`lap, ranked_at`, ...options })}`;
}

/** The rest of both: locks what was ranked, asks again whether it is due, and leases it. */
function lockAndLease(
  { table, key, columns }: DueTable,
  picked: { isDue: Statement; order: Statement; limit: number; leaseMs: number },
): Statement {
  return sql`
    due as (
      select ${key} as due_id
      from ranked
      join ${table} on ${key} = ranked_id
      where ${picked.isDue}
      order by ${picked.order}
      limit ${picked.limit}
      for update of ${table} skip locked
    )
    update ${table}
    set ${takeLease(picked.leaseMs)}
    from due
    where ${key} = due_id
    returning ${columns}`;
}
