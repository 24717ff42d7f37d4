import type { AccountId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** Longer than a batch takes to be written; what its taker has not finished by then is taken again. */
const LEASE_MS = 30_000;

export type DueRelease = { creditId: string; accountId: AccountId; amount: bigint };

/**
 * Leases releases whose time has come by the clock of the database, the oldest first; replicas pass over what another
 * one has taken. Reads `releases_due`. The lease only keeps work from being done twice for nothing: the command that
 * follows has one effect, however often it is submitted.
 */
export async function takeDueReleases(db: Queryable, limit: number): Promise<DueRelease[]> {
  return await db.query<DueRelease>(
    named(
      'releases_take',
      sql`
        update releases
        set leased_until = now() + ${LEASE_MS}::int * interval '1 ms'
        where command_id in (
          select command_id
          from releases
          where release_at <= now() and leased_until <= now()
          order by release_at
          limit ${limit}
          for update skip locked
        )
        returning command_id as "creditId", account_id as "accountId", amount`,
    ),
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
