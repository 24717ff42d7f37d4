import type { Database, Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

import { columnsOf, type LaneClaim, lockOwned } from './claim-lanes.sql.ts';
import { isDisabled } from './disabled-endpoint.sql.ts';

/**
 * Releases lanes with nothing to do until their next delivery is due; one in which something is due already, for which
 * there was no slot, goes behind all lanes that wait. Lanes that are being queued for at this moment are skipped, so
 * that none sleeps over what comes: which deliveries a lane has is read only once the others are locked, by a statement
 * of its own. Answers which lanes are no longer owned, those included that other senders have taken over.
 */
export async function releaseLanes(
  db: Database,
  clock: ScheduleClock,
  lanes: readonly LaneClaim[],
): Promise<Set<string>> {
  return await db.transaction(async (tx) => {
    const rows = await tx.query<{ id: string; is_owned: boolean }>(lockToReleaseStatement(lanes));
    const owned = rows.flatMap(({ id, is_owned }) => (is_owned ? [id] : []));
    if (owned.length > 0) await tx.query(releaseStatement(clock, owned));
    return new Set(rows.map(({ id }) => id));
  });
}

function lockToReleaseStatement(lanes: readonly LaneClaim[]): Statement {
  const { ids, fences } = columnsOf(lanes);
  return named(
    'lanes_lock_to_release',
    sql`
      select
        id,
        leased and (id, fence) in (select * from unnest(${ids}::uuid[], ${fences}::bigint[])) as is_owned
      from lanes
      where id = any (${ids}::uuid[])
      order by id
      for update skip locked`,
  );
}

/** A lane is claimable again when something is to be done in it, never if there is nothing. */
export function releaseStatement(clock: ScheduleClock, laneIds: readonly string[]): Statement {
  const now = scheduleNow(clock);
  return named(
    'lanes_release',
    sql`
      update lanes
      set leased = false,
          waiting = false,
          claimable_at = coalesce(
            (
              select greatest(due_at, probe_at, ${now})
              from (
                ${nextDueAt(now)}
              ) as next
              where due_at is not null
            ),
            'infinity'
          )
      where id = any (${laneIds}::uuid[])`,
  );
}

/**
 * One row: when something is to be done in the lane of the row `lanes`; null if there is nothing. What waits for a
 * disabled endpoint waits until that is resumed, but for what an operator sends again (decision 157); what a deleted one
 * leaves is to be canceled, due or not (decision 158). Reads the first row of ranges of `queue_lane` or `queue_resends`.
 */
export function nextDueAt(now: Statement): Statement {
  return sql`
    select case (
        select case when deleted_at is not null then 'deleted' when ${isDisabled} then 'disabled' end
        from endpoints
        where endpoints.id = lanes.id
      )
      when 'deleted' then (select ${now} from queue where queue.lane_id = lanes.id limit 1)
      when 'disabled' then least(
        (select due_at from queue where queue.lane_id = lanes.id and is_resend and rank = 0 order by due_at limit 1),
        (select due_at from queue where queue.lane_id = lanes.id and is_resend and rank = 2 order by due_at limit 1)
      )
      else least(
        (select due_at from queue where queue.lane_id = lanes.id and rank = 0 order by due_at limit 1),
        (select due_at from queue where queue.lane_id = lanes.id and rank = 1 order by due_at limit 1),
        (select due_at from queue where queue.lane_id = lanes.id and rank = 2 order by due_at limit 1)
      )
    end as due_at`;
}

/**
 * Returns lanes with what is in them: any sender may claim them at once, behind all that wait already. They stay
 * awake, so nothing that is being queued at this moment has to be waited for.
 */
export async function returnLanes(
  db: Queryable,
  clock: ScheduleClock,
  lanes: readonly LaneClaim[],
): Promise<void> {
  await db.query(
    named(
      'lanes_return',
      sql`
        update lanes
        set leased = false,
            waiting = coalesce(probe_at <= ${scheduleNow(clock)}, true),
            claimable_at = greatest(${scheduleNow(clock)}, probe_at)
        where id = any (array(${lockOwned(lanes)}))`,
    ),
  );
}
