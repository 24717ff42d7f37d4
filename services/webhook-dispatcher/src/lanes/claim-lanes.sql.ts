import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/** A lane that a sender has taken for as long as its lease lasts. */
export type ClaimedLane = {
  id: string;
  /** The number of this claim: outcomes under an older one are refused. */
  fence: bigint;
  /** Failed attempts in a row. */
  failureCount: number;
  /** While the breaker is open: until the next attempt may be made. */
  probeInMs: number | null;
  /** Whether an earlier claim ended with its lease: its requests may have been made. */
  isTakenOver: boolean;
};

type ClaimOptions = {
  clock: ScheduleClock;
  limit: number;
  leaseMs: number;
  /** Lanes that this process owns: their leases are renewed, not claimed. */
  owned: readonly string[];
};

/**
 * Claims lanes in which something is due, those that wait longest first, beside other senders. The end of the lease is
 * when the lane becomes claimable again, so the lanes of a dead sender come back by themselves. Transactions that queue
 * at this moment are not waited for: they do not change a lane that is owned. Reads `lanes_claimable`.
 */
export async function claimLanes(db: Queryable, options: ClaimOptions): Promise<ClaimedLane[]> {
  return await db.query<ClaimedLane>(claimLanesStatement(options));
}

export function claimLanesStatement(options: ClaimOptions): Statement {
  const now = scheduleNow(options.clock);
  return named(
    'lanes_claim',
    sql`
      update lanes
      set leased = true,
          fence = lanes.fence + 1,
          claimable_at = ${now} + ${options.leaseMs}::float8 * interval '1 millisecond'
      where id = any (array(
          select id
          from lanes
          where claimable_at <= ${now}
            and claimable_at < 'infinity'
            and id <> all (${options.owned}::uuid[])
          order by claimable_at
          limit ${options.limit}
          for no key update skip locked
        ))
      returning
        lanes.id, lanes.fence, lanes.failure_count as "failureCount", old.leased as "isTakenOver",
        (extract(epoch from lanes.probe_at - ${now}) * 1000)::float8 as "probeInMs"`,
  );
}

/** A lane under the claim that a sender has of it. */
export type LaneClaim = Pick<ClaimedLane, 'id' | 'fence'>;

/** Renews leases, also such as have ended unnoticed; answers the lanes that this sender still owns. */
export async function renewLanes(
  db: Queryable,
  options: { clock: ScheduleClock; leaseMs: number; lanes: readonly LaneClaim[] },
): Promise<Set<string>> {
  const { ids, fences } = columnsOf(options.lanes);
  const rows = await db.query<{ id: string }>(
    named(
      'lanes_renew',
      sql`
        update lanes
        set claimable_at = ${scheduleNow(options.clock)} + ${options.leaseMs}::float8 * interval '1 millisecond'
        where id = any (${ids}::uuid[])
          and leased
          and (id, fence) in (select * from unnest(${ids}::uuid[], ${fences}::bigint[]))
        returning id`,
    ),
  );
  return new Set(rows.map(({ id }) => id));
}

/** Claims as arrays of their columns. */
export function columnsOf(lanes: readonly LaneClaim[]): { ids: string[]; fences: string[] } {
  return { ids: lanes.map(({ id }) => id), fences: lanes.map(({ fence }) => String(fence)) };
}
