import { accountsInTurn } from '@pixmesh/postgres/accounts-in-turn';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/** Lanes that one claim takes note of because their time has come. */
const JOINED_PER_CLAIM_MAX = 256;

/** A lane that a sender has taken for as long as its lease lasts. */
export type ClaimedLane = {
  id: string;
  accountId: string;
  /** The number of this claim: outcomes under an older one are refused. */
  fence: bigint;
  /** Failed attempts in a row. */
  failureCount: number;
  /** While the breaker is open: until the next attempt may be made. */
  probeInMs: number | null;
  /** Whether an earlier claim ended with its lease: its requests may have been made. */
  isTakenOver: boolean;
};

export type ClaimOptions = {
  clock: ScheduleClock;
  limit: number;
  leaseMs: number;
  processId: string;
  /** Lanes that this process owns: their leases are renewed, not claimed. */
  owned: readonly string[];
  /**
   * Accounts whose lanes already wait in this process, for slots or for their rate, or many of which fail: more of
   * theirs are left to others.
   */
  waitingAccounts: readonly string[];
  /** Whether lanes are taken whose leases have ended: their owners are taken for dead. */
  mayTakeOver: boolean;
  /** The account that was served last: the turn begins behind it. */
  after: string;
};

/**
 * Claims lanes in which something is due, beside other senders: one of every account in turn, beginning behind `after`,
 * then a second one of each; of an account those that wait longest first. The end of the lease is when the lane becomes
 * claimable again, so the lanes of a dead sender come back by themselves. Transactions that queue at this moment are
 * not waited for: they do not change a lane that is owned. Returns them in the order of turns.
 *
 * Walks `lanes_waiting` from account to account, so thousands of lanes of one account hide nobody's. What is due by time
 * alone is found at the beginning of `lanes_joining`, and joins the line of its account where it is not claimed.
 */
export async function claimLanes(db: Queryable, options: ClaimOptions): Promise<ClaimedLane[]> {
  const rows = await db.query<ClaimedLane & { lap: number }>(claimLanesStatement(options));
  return rows.toSorted(
    (one, other) => one.lap - other.lap || byTurn(one.accountId, other.accountId),
  );

  /** The order of the walk: accounts behind `after`, then the others. */
  function byTurn(one: string, other: string): number {
    const isLater = Number(one <= options.after) - Number(other <= options.after);
    return isLater !== 0 ? isLater : Number(one > other) - Number(one < other);
  }
}

export function claimLanesStatement(options: ClaimOptions): Statement {
  const { clock, limit, leaseMs, processId, waitingAccounts, mayTakeOver, after } = options;
  const now = scheduleNow(clock);
  const isWork = sql`waiting and claimable_at <= ${now}`;
  return named(
    'lanes_claim',
    sql`
      with recursive ${accountsInTurn({ table: sql`lanes`, isWork, after, limit: limit + waitingAccounts.length })},
      ${dueLanes(now, options)},
      ranked as (
        select
          id as ranked_id, account_id as ranked_account,
          row_number() over (partition by account_id order by claimable_at) as lap
        from due
        where account_id <> all (${waitingAccounts}::uuid[])
      ),
      picked as (
        select picked_id, lap
        from (
          select ranked_id, lap
          from ranked
          order by lap, ranked_account <= ${after}::uuid, ranked_account
        ) as turns
        cross join lateral (
          select id as picked_id
          from lanes
          where id = ranked_id and claimable_at <= ${now} and (not leased or ${mayTakeOver}::boolean)
          limit 1
          for no key update skip locked
        ) as lane
        limit ${limit}::int
      ),
      joined as (
        update lanes
        set waiting = true
        where id = any (array(select id from joining where id not in (select picked_id from picked)))
      )
      update lanes
      set leased = true,
          waiting = false,
          owner = ${processId},
          fence = lanes.fence + 1,
          claimable_at = ${now} + ${leaseMs}::float8 * interval '1 millisecond'
      from picked
      where id = any (array(select picked_id from picked))
        and id = picked_id
      returning
        lanes.id, lanes.account_id as "accountId", lanes.fence, lanes.failure_count as "failureCount",
        old.leased as "isTakenOver", lap::int as lap,
        (extract(epoch from lanes.probe_at - ${now}) * 1000)::float8 as "probeInMs"`,
  );
}

/**
 * The CTEs `joining`: lanes whose time has come and that stand in no line yet; `due`: those, and what stands in line.
 */
function dueLanes(now: Statement, { owned, limit }: ClaimOptions): Statement {
  return sql`
      joining as materialized (
        select id, account_id, claimable_at
        from lanes
        where not waiting
          and claimable_at <= ${now}
          and claimable_at < 'infinity'
          and id <> all (${owned}::uuid[])
        order by claimable_at
        limit ${JOINED_PER_CLAIM_MAX}
        for no key update skip locked
      ),
      due as (
        select id, account_id, claimable_at from joining
        union all
        select lane.id, ring_account, lane.claimable_at
        from ring
        cross join lateral (
          select id, claimable_at
          from lanes
          where waiting
            and account_id = ring_account
            and claimable_at <= ${now}
            and id <> all (${owned}::uuid[])
          order by claimable_at
          limit ${limit}::int
        ) as lane
        where turn > 0
      )`;
}

/** A lane under the claim that a sender has of it. */
export type LaneClaim = Pick<ClaimedLane, 'id' | 'fence'>;

/**
 * Ids of those that this sender still owns, locked in their order, as by everybody who changes several lanes: it stores
 * outcomes of them at the same time.
 */
export function lockOwned(lanes: readonly LaneClaim[]): Statement {
  return sql`
          select id
          from lanes
          where ${isOwned(lanes)}
          order by id
          for no key update`;
}

function isOwned(lanes: readonly LaneClaim[]): Statement {
  const { ids, fences } = columnsOf(lanes);
  return sql`id = any (${ids}::uuid[])
            and leased
            and (id, fence) in (select * from unnest(${ids}::uuid[], ${fences}::bigint[]))`;
}

/** A lane that its sender still owns; not renewed where another transaction holds its row. */
export type RenewedLane = { id: string; accountId: string; isRenewed: boolean };

/**
 * Renews leases, also such as have ended unnoticed; answers the lanes that this sender still owns. A row that another
 * transaction holds is not waited for: the leases of all others would end meanwhile.
 */
export async function renewLanes(
  db: Queryable,
  options: { clock: ScheduleClock; leaseMs: number; lanes: readonly LaneClaim[] },
): Promise<RenewedLane[]> {
  return await db.query<RenewedLane>(
    named(
      'lanes_renew',
      sql`
        with renewed as (
          update lanes
          set waiting = false,
              claimable_at = ${scheduleNow(options.clock)} + ${options.leaseMs}::float8 * interval '1 millisecond'
          where id = any (array(${lockOwned(options.lanes)} skip locked))
          returning id as renewed_id
        )
        select
          id, account_id as "accountId",
          exists (select from renewed where renewed_id = id) as "isRenewed"
        from lanes
        where ${isOwned(options.lanes)}`,
    ),
  );
}

/** Claims as arrays of their columns. */
export function columnsOf(lanes: readonly LaneClaim[]): { ids: string[]; fences: string[] } {
  return { ids: lanes.map(({ id }) => id), fences: lanes.map(({ fence }) => String(fence)) };
}
