import { endLease, isDue, takeLease } from '@pixmesh/postgres/due-rows';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** One run over the acquirer's list of infractions, leased to one replica. */
export type DisputeListRun = {
  leaseToken: string;
  /** Infractions opened in this window may have changed. */
  from: Date;
  to: Date;
  /** Whether the window holds every infraction that may have changed. */
  isWhole: boolean;
  startedAt: Date;
};

/** The acquirer lists an infraction a little later than it opens it, and its clock is not ours, either way. */
const OVERLAP = sql`interval '2 days'`;
/** No dispute changes after this long (decision 218). */
const AGE_MAX = sql`interval '120 days'`;

/** Between two runs over everything. */
const WHOLE_INTERVAL = sql`interval '10 minutes'`;

/**
 * Leases the run if it is due: from the opening of the oldest dispute that is not lost, and now and then of
 * everything, because an infraction may be listed long after its opening. Where a clock that was ahead has been set
 * back, it is due at once, also where a lease of that time holds it, and of everything.
 */
export async function leaseRun(
  db: Queryable,
  { intervalMs, leaseMs }: { intervalMs: number; leaseMs: number },
): Promise<DisputeListRun[]> {
  const rows = await db.query<RunRecord>(
    named(
      'lease_dispute_list',
      sql`
        update dispute_list
        set ${takeLease(leaseMs)}
        where (${isDue('routine')})
          or check_at > now() + ${intervalMs + leaseMs}::float8 * interval '1 ms'
        returning
          lease_token,
          ${isWholeDue} as is_whole,
          case
            when ${isWholeDue} then now() - ${AGE_MAX}
            else greatest(
              least(
                listed_until - ${OVERLAP},
                (select min(opened_at) from disputes where status <> 'lost')
              ),
              now() - ${AGE_MAX}
            )
          end as from_at,
          now() + ${OVERLAP} as to_at,
          now() as started_at`,
    ),
  );
  return rows.map((row) => ({
    leaseToken: row.lease_token,
    from: row.from_at,
    to: row.to_at,
    isWhole: row.is_whole,
    startedAt: row.started_at,
  }));
}

const isWholeDue = sql`coalesce(whole_at not between now() - ${WHOLE_INTERVAL} and now(), true)`;

type RunRecord = {
  lease_token: string;
  is_whole: boolean;
  from_at: Date;
  to_at: Date;
  started_at: Date;
};

/** Renews the lease for another page; false for a process that has lost it. */
export async function renewRun(
  db: Queryable,
  run: DisputeListRun,
  leaseMs: number,
): Promise<boolean> {
  const rows = await db.query(
    named(
      'renew_dispute_list',
      sql`
        update dispute_list
        set lease_until = now() + ${leaseMs}::int * interval '1 ms',
            check_at = now() + ${leaseMs}::int * interval '1 ms'
        where lease_token = ${run.leaseToken}
        returning lease_token`,
    ),
  );
  return rows.length === 1;
}

/**
 * Ends a run; one that is not complete moves nothing. `waitingFrom`: the opening of the oldest infraction that
 * could not be applied yet.
 */
export async function endRun(
  db: Queryable,
  run: DisputeListRun,
  end: {
    /** All pages were read. */
    isListed: boolean;
    /** And all of their items. */
    isComplete: boolean;
    waitingFrom: Date | null;
    nextInMs: number;
  },
): Promise<void> {
  await db.query(
    named(
      'end_dispute_list',
      sql`
        update dispute_list
        set listed_until = case
              when ${end.isComplete}::boolean
                then least(${run.startedAt}::timestamptz, ${end.waitingFrom}::timestamptz)
              else listed_until
            end,
            whole_at = case
              when ${end.isListed && run.isWhole}::boolean then ${run.startedAt}::timestamptz
              else whole_at
            end,
            ${endLease(end.nextInMs)}
        where lease_token = ${run.leaseToken}`,
    ),
  );
}
