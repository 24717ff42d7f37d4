import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { nextDueAt } from '#lanes/release-lanes.sql.ts';
import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

/** A page by id, or rows by their ids. */
export type Picked = { after: string; limit: number } | { ids: readonly string[] };

/** A lane; `isAsleep` where something has been due in it for a minute and no sender may claim it. */
export type ComparedLane = { id: string; isAsleep: boolean };

/** A delivery; of one that is pending, the attempts that its row in the queue counts. Null: it has no row. */
export type ComparedDelivery = { id: string; isPending: boolean; attemptCount: number | null };

export async function readLanes(
  db: Queryable,
  clock: ScheduleClock,
  picked: Picked,
): Promise<ComparedLane[]> {
  return await db.query(lanesStatement(clock, picked));
}

/** A lane that a sender owns is not asleep, and one whose breaker is open may wait for its probe. */
export function lanesStatement(clock: ScheduleClock, picked: Picked): Statement {
  const now = scheduleNow(clock);
  return named(
    nameOf('delivery_check_lanes', picked),
    sql`
      select
        lanes.id,
        coalesce(
          not leased
            and claimable_at > greatest(next.due_at, probe_at, ${now})
            and next.due_at < ${now} - interval '1 minute',
          false
        ) as "isAsleep"
      from (
        select id, leased, claimable_at, probe_at
        from lanes
        where ${isPicked(picked)}
      ) as lanes
      cross join lateral (${nextDueAt(now)} offset 0) as next
      order by lanes.id`,
  );
}

export async function readDeliveries(db: Queryable, picked: Picked): Promise<ComparedDelivery[]> {
  return await db.query(deliveriesStatement(picked));
}

export function deliveriesStatement(picked: Picked): Statement {
  return named(
    nameOf('delivery_check_deliveries', picked),
    sql`
      select
        deliveries.id, deliveries.status = 'pending' as "isPending", queued.attempt_count as "attemptCount"
      from (
        select id, status
        from deliveries
        where ${isPicked(picked)}
      ) as deliveries
      left join lateral (
        select attempt_count
        from queue
        where queue.id = deliveries.id and deliveries.status = 'pending'
        offset 0
      ) queued on true
      order by deliveries.id`,
  );
}

function nameOf(name: string, picked: Picked): string {
  return `${name}_${'ids' in picked ? 'found' : 'page'}`;
}

function isPicked(picked: Picked): Statement {
  return 'ids' in picked
    ? sql`id = any (${picked.ids}::uuid[])`
    : sql`id > ${picked.after} order by id limit ${picked.limit}`;
}
