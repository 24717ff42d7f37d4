import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/**
 * Before deliveries are queued: until the end of the transaction no sender releases these lanes, so none sleeps over
 * what is being queued. Inserts lanes that are new. Share locks, in the order of the ids: many transactions may hold
 * them at once, claims and renewals pass, and no deadlock can form. A lane that another transaction inserts at this
 * moment is locked by a statement of its own: the one that waited for it does not see it.
 */
export async function lockLanesToQueue(tx: Queryable, laneIds: readonly string[]): Promise<void> {
  const wanted = [...new Set(laneIds)].sort();
  const missing = await lockLanes(tx, wanted);
  if (missing.length === 0) return;
  await tx.query(
    named(
      'lanes_insert',
      sql`
        insert into lanes (id)
        select id from unnest(${missing}::uuid[]) as missing (id)
        on conflict (id) do nothing`,
    ),
  );
  await lockLanes(tx, missing);
}

/** Answers which of them do not exist, in the order of the ids. */
async function lockLanes(tx: Queryable, laneIds: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    named(
      'lanes_lock_to_queue',
      sql`select id from lanes where id = any (${laneIds}::uuid[]) order by id for key share`,
    ),
  );
  const locked = new Set(rows.map(({ id }) => id));
  return laneIds.filter((id) => !locked.has(id));
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
        set claimable_at = greatest(${now}, probe_at)
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
