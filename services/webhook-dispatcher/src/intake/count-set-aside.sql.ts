import { accountsInTurn, BEFORE_ALL_ACCOUNTS } from '@pixmesh/postgres/accounts-in-turn';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { SetAside } from '#reports.ts';

/** The gauges stop counting here: a scrape must not cost more the longer the line is. */
const EVENTS_MAX = 10_000;
const ACCOUNTS_MAX = 1_000;
/** Accounts that are listed, and what is counted of each. */
const ACCOUNTS_LISTED_MAX = 20;
const EVENTS_OF_ACCOUNT_MAX = 1_000;

/** The CTE `first (account_id, at)`: when the oldest event of each account happened. Needs the CTE `ring`. */
const OLDEST_OF_ACCOUNTS = sql`
  first as (
    select ring_account as account_id, uuid_extract_timestamp(event_id) as at
    from ring
    cross join lateral (
      select event_id
      from set_aside_events
      where account_id = ring_account
      order by event_id
      limit 1
    ) as oldest_event
    where turn > 0
  )`;

/** What waits to be fanned out. Reads a range of the primary key, and of each account its first row. */
export async function countSetAside(db: Queryable): Promise<SetAside> {
  const [row] = await db.query<SetAside>(countSetAsideStatement());
  return row ?? { count: 0, oldestSeconds: 0 };
}

export function countSetAsideStatement(): Statement {
  return named(
    'set_aside_count',
    sql`
      with recursive ${accountsBehind()}, ${OLDEST_OF_ACCOUNTS}
      select counted.count, greatest(extract(epoch from now() - oldest.at), 0)::float8 as "oldestSeconds"
      from (
        select count(*)::int as count
        from (
          select from set_aside_events
          order by account_id, event_id
          limit ${EVENTS_MAX}
        ) as bounded
      ) as counted
      cross join (select min(at) as at from first) as oldest`,
  );
}

/** An account, its events up to a bound, and how long ago the oldest of them happened. */
export type AccountSetAside = SetAside & { accountId: string };

/**
 * Whose events wait to be fanned out, of up to a thousand accounts those with the oldest. Reads of each account its first
 * row, and of those that it answers a range of the primary key.
 */
export async function listAccountsSetAside(db: Queryable): Promise<AccountSetAside[]> {
  return await db.query<AccountSetAside>(accountsSetAsideStatement());
}

export function accountsSetAsideStatement(): Statement {
  return named(
    'set_aside_accounts',
    sql`
      with recursive ${accountsBehind()}, ${OLDEST_OF_ACCOUNTS}
      select
        oldest.account_id as "accountId", counted.count,
        greatest(extract(epoch from now() - oldest.at), 0)::float8 as "oldestSeconds"
      from (select account_id, at from first order by at, account_id limit ${ACCOUNTS_LISTED_MAX}) as oldest
      cross join lateral (
        select count(*)::int as count
        from (
          select from set_aside_events
          where account_id = oldest.account_id
          limit ${EVENTS_OF_ACCOUNT_MAX}
        ) as bounded
      ) as counted
      where counted.count > 0
      order by oldest.at, oldest.account_id`,
  );
}

function accountsBehind(): Statement {
  return accountsInTurn({
    table: sql`set_aside_events`,
    isWork: sql`true`,
    after: BEFORE_ALL_ACCOUNTS,
    limit: ACCOUNTS_MAX,
  });
}
