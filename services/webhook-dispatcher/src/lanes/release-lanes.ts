import type { Database, Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { isDisabled } from '#lanes/disabled-endpoint.sql.ts';
import { type ScheduleClock, scheduleNow } from '#schedule-clock.ts';

import { isClaimed, type LaneClaim } from './claim-lanes.sql.ts';

/**
 * Lets lanes go that have nothing to do, until their next delivery is due; where one is due already, for which there was
 * no slot, they stand behind all lanes that wait. Lanes for which somebody is queueing at this moment are passed over, so
 * that none falls asleep over what comes; what stands in them is looked at only once the others are locked, by a
 * statement of its own. Answers which are gone, those included that others have taken.
 */
export async function letGoLanes(
  db: Database,
  clock: ScheduleClock,
  lanes: readonly LaneClaim[],
): Promise<Set<string>> {
  return await db.transaction(async (tx) => {
    const rows = await tx.query<{ id: string; is_ours: boolean }>(lockToLetGoStatement(lanes));
    const ours = rows.flatMap(({ id, is_ours }) => (is_ours ? [id] : []));
    if (ours.length > 0) await tx.query(letGoStatement(clock, ours));
    return new Set(rows.map(({ id }) => id));
  });
}

function lockToLetGoStatement(lanes: readonly LaneClaim[]): Statement {
  return named(
    'lanes_lock_to_let_go',
    sql`
      select id, (${isClaimed(lanes)}) as is_ours
      from lanes
      where id = any (${lanes.map(({ id }) => id)}::uuid[])
      order by id
      for update skip locked`,
  );
}

export function letGoStatement(clock: ScheduleClock, laneIds: readonly string[]): Statement {
  const now = scheduleNow(clock);
  return named(
    'lanes_let_go',
    sql`
      update lanes
      set leased = false,
          claimable_at = coalesce(
            (select greatest(due_at, probe_at, ${now}) from (select ${nextDue(now)} as due_at) as next where due_at is not null),
            'infinity'
          )
      where id = any (${laneIds}::uuid[])`,
  );
}

/**
 * When something is to be done in a lane, null for never. A quiet endpoint's deliveries wait for it to be resumed, but
 * for what an operator sends again (decision 157); what a deleted one leaves is canceled, due or not (decision 158).
 * Each look is one range of `queue_lane` or of `queue_resends`.
 */
function nextDue(now: Statement): Statement {
  return sql`case (
              select case when deleted_at is not null then 'deleted' when ${isDisabled} then 'quiet' end
              from endpoints
              where endpoints.id = lanes.id
            )
            when 'deleted' then (select ${now} from queue where queue.lane_id = lanes.id limit 1)
            when 'quiet' then least(
              (select due_at from queue where queue.lane_id = lanes.id and is_resend and rank = 0 order by due_at limit 1),
              (select due_at from queue where queue.lane_id = lanes.id and is_resend and rank = 2 order by due_at limit 1)
            )
            else least(
              (select due_at from queue where queue.lane_id = lanes.id and rank = 0 order by due_at limit 1),
              (select due_at from queue where queue.lane_id = lanes.id and rank = 1 order by due_at limit 1),
              (select due_at from queue where queue.lane_id = lanes.id and rank = 2 order by due_at limit 1)
            )
          end`;
}

/**
 * Hands lanes over with what is in them: whoever comes first may take them now, behind all that wait already. They
 * stay awake, so nobody who queues at this moment has to be waited for.
 */
export async function handOverLanes(
  db: Queryable,
  clock: ScheduleClock,
  lanes: readonly LaneClaim[],
): Promise<void> {
  await db.query(
    named(
      'lanes_hand_over',
      sql`
        update lanes
        set leased = false,
            claimable_at = greatest(${scheduleNow(clock)}, probe_at)
        where id = any (${lanes.map(({ id }) => id)}::uuid[])
          and ${isClaimed(lanes)}`,
    ),
  );
}
