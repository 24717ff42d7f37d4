import { NIL_ID } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/** A lane and whose it is. */
export type AccountLane = { id: string; accountId: string };

/**
 * Before deliveries are queued: until the end of the transaction no sender releases these lanes, so none sleeps over
 * what is being queued. Inserts lanes that are new, and names the accounts of those that have none. Share locks, in the
 * order of the ids: many transactions may hold them at once, claims and renewals pass, and no deadlock can form. A lane
 * that another transaction inserts at this moment is locked by a statement of its own: the one that waited for it does
 * not see it.
 *
 * Returns the lanes that a sender owns: until the end of the transaction they may be returned or taken over, which
 * leaves them claimable, but not released. The others are to be woken (`wakeLanes`).
 */
export async function lockLanesToQueue(
  tx: Queryable,
  lanes: readonly AccountLane[],
): Promise<Set<string>> {
  const wanted = [...new Map(lanes.map((lane) => [lane.id, lane])).values()].sort(byId);
  const locked = await lockLanes(tx, wanted);
  const missing = wanted.filter(({ id }) => !locked.has(id));
  const unnamed = wanted.filter(({ id }) => locked.get(id)?.accountId === NIL_ID);
  const owned = [...locked.values()].filter(({ leased }) => leased);
  if (unnamed.length > 0) await nameAccounts(tx, unnamed);
  if (missing.length > 0) await insertLanes(tx, missing);
  return new Set(owned.map(({ id }) => id));
}

async function insertLanes(tx: Queryable, missing: readonly AccountLane[]): Promise<void> {
  const { ids, accountIds } = columnsOf(missing);
  await tx.query(
    named(
      'lanes_insert',
      sql`
        insert into lanes (id, account_id)
        select * from unnest(${ids}::uuid[], ${accountIds}::uuid[])
        on conflict (id) do nothing`,
    ),
  );
  await lockLanes(tx, missing);
}

function byId(one: AccountLane, other: AccountLane): number {
  return one.id < other.id ? -1 : 1;
}

type LockedLane = AccountLane & { leased: boolean };

/** Returns those that exist. */
async function lockLanes(
  tx: Queryable,
  lanes: readonly AccountLane[],
): Promise<Map<string, LockedLane>> {
  const rows = await tx.query<LockedLane>(
    named(
      'lanes_lock_to_queue',
      sql`
        select id, account_id as "accountId", leased
        from lanes
        where id = any (${columnsOf(lanes).ids}::uuid[])
        order by id
        for key share`,
    ),
  );
  return new Map(rows.map((lane) => [lane.id, lane]));
}

/** Of lanes that were inserted before lanes had an account; each is changed once. */
async function nameAccounts(tx: Queryable, lanes: readonly AccountLane[]): Promise<void> {
  const { ids, accountIds } = columnsOf(lanes);
  await tx.query(
    named(
      'lanes_name_accounts',
      sql`
        update lanes
        set account_id = owner.account_id
        from unnest(${ids}::uuid[], ${accountIds}::uuid[]) as owner (id, account_id)
        where lanes.id = any (${ids}::uuid[])
          and lanes.id = owner.id
          and lanes.account_id = ${NIL_ID}`,
    ),
  );
}

/** Lanes as arrays of their columns. */
function columnsOf(lanes: readonly AccountLane[]): { ids: string[]; accountIds: string[] } {
  return { ids: lanes.map(({ id }) => id), accountIds: lanes.map(({ accountId }) => accountId) };
}

/**
 * Makes lanes claimable that no sender owns and that would sleep past `now`. To be called in the transaction that
 * queued, after `lockLanesToQueue`, as a statement of its own: it must see what a sender has just released. A lane that
 * is owned needs nothing: its sender reads the queue again before it releases the lane.
 */
export async function wakeLanes(
  tx: Queryable,
  clock: ScheduleClock,
  laneIds: readonly string[],
): Promise<void> {
  const now = scheduleNow(clock);
  await tx.query(
    named(
      'lanes_wake',
      sql`
        update lanes
        set claimable_at = greatest(${now}, probe_at),
            waiting = coalesce(probe_at <= ${now}, true)
        where id = any (array(
            select id
            from lanes
            where id = any (${laneIds}::uuid[])
              and not leased
              and claimable_at > greatest(${now}, probe_at)
            order by id
            for no key update
          ))`,
    ),
  );
}

/**
 * Before an endpoint is paused, resumed or deleted: waits for all transactions that queue for these lanes or release
 * them, and makes them wait until the change is committed.
 */
export async function lockLanesToChange(tx: Queryable, laneIds: readonly string[]): Promise<void> {
  await tx.query(
    named(
      'lanes_lock_to_change',
      sql`select id from lanes where id = any (${laneIds}::uuid[]) order by id for update`,
    ),
  );
}
