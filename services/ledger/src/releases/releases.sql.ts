import type { AccountId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

/** Longer than a batch takes to be written; what its taker has not finished by then is taken again. */
const LEASE_MS = 30_000;
/** Accounts take turns among the releases that have been due for longest; so many of them are read. */
const WINDOW = 1_000;
/** Candidates for each release that is wanted: other processes may hold some of them. */
const SPARE = 2;

export type DueRelease = { creditId: string; accountId: AccountId; amount: bigint };

/**
 * Leases releases whose time has come by the clock of the database: of those that have been due for longest, one of
 * each account, then a second one of each. Replicas pass over what another one has taken. Reads `releases_due`. The
 * lease only keeps work from being done twice for nothing: the command that follows has one effect, however often it
 * is submitted.
 */
export async function takeDueReleases(db: Queryable, limit: number): Promise<DueRelease[]> {
  return await db.query<DueRelease>(dueReleasesStatement(limit));
}

/** Goes from candidate to candidate by the primary key, whatever the planner believes of the size of the table. */
export function dueReleasesStatement(limit: number): Statement {
  return named(
    'releases_take',
    sql`
      with oldest as (
        select command_id as oldest_id, account_id, release_at
        from releases
        where release_at <= now() and leased_until <= now()
        order by release_at
        limit ${WINDOW}::int
      ),
      ranked as (
        select
          oldest_id as ranked_id, release_at as ranked_at,
          row_number() over (partition by account_id order by release_at) as lap
        from oldest
        order by lap, ranked_at
        limit ${limit * SPARE}::int
      ),
      due as (
        select due_id
        from ranked
        cross join lateral (
          select command_id as due_id
          from releases
          where command_id = ranked_id and leased_until <= now()
          for update skip locked
        ) as locked
        limit ${limit}::int
      )
      update releases
      set leased_until = now() + ${LEASE_MS}::int * interval '1 ms'
      where command_id = any (array(select due_id from due))
      returning command_id as "creditId", account_id as "accountId", amount`,
  );
}

/**
 * Whether a release is due, for the poll of due work. One that is taken and not booked counts. Reads `releases_due`.
 */
export const HAS_DUE_RELEASE = sql`(select release_at from releases order by release_at limit 1) <= now()`;

/** Seconds for which the oldest release has been due; 0 when none is. Reads `releases_due`. */
export async function readOldestReleaseAge(db: Queryable): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(
    named(
      'releases_oldest_age',
      sql`
        select greatest(0, extract(epoch from now() - release_at))::float8 as seconds
        from releases
        order by release_at
        limit 1`,
    ),
  );
  return row?.seconds ?? 0;
}
