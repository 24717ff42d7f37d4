import { accountsInTurn, BEFORE_ALL_ACCOUNTS } from '@pixmesh/postgres/accounts-in-turn';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { SetAside } from '#reports.ts';

/** The gauges stop counting here: a scrape must not cost more the longer the line is. */
const EVENTS_MAX = 10_000;
const ACCOUNTS_MAX = 1_000;

/** What waits to be fanned out. Reads a range of the primary key, and of each account its first row. */
export async function countSetAside(db: Queryable): Promise<SetAside> {
  const [row] = await db.query<SetAside>(countSetAsideStatement());
  return row ?? { count: 0, oldestSeconds: 0 };
}

export function countSetAsideStatement(): Statement {
  const accounts = accountsInTurn({
    table: sql`set_aside_events`,
    isWork: sql`true`,
    after: BEFORE_ALL_ACCOUNTS,
    limit: ACCOUNTS_MAX,
  });
  return named(
    'set_aside_count',
    sql`
      with recursive ${accounts}
      select counted.count, greatest(extract(epoch from now() - oldest.at), 0)::float8 as "oldestSeconds"
      from (
        select count(*)::int as count
        from (
          select from set_aside_events
          order by account_id, event_id
          limit ${EVENTS_MAX}
        ) as bounded
      ) as counted
      cross join (
        select min(uuid_extract_timestamp(first.event_id)) as at
        from ring
        cross join lateral (
          select event_id
          from set_aside_events
          where account_id = ring_account
          order by event_id
          limit 1
        ) as first
        where turn > 0
      ) as oldest`,
  );
}
