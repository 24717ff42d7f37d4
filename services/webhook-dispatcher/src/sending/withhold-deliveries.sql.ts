import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { isQuiet } from '#endpoints/quiet-endpoint.sql.ts';

import { type ScheduleClock, scheduleNow } from './schedule-clock.ts';

/**
 * Until a paused endpoint's delivery is looked at again. Resuming sets `due_at` back at once; this only bounds how
 * long a delivery waits should that be missed, and how often what waits is scanned.
 */
export const PAUSED_LOOK_DELAY_MS = 15 * 60_000;
/** Rows per turn: a flood for a paused endpoint is out of the way soon, and each statement stays short. */
export const WITHHELD_PER_TURN_MAX = 5_000;

/**
 * What becomes of due deliveries whose endpoint is not to be sent to: a paused one's wait and cost no attempt
 * (decision 157). A deleted one's are canceled (decision 158), whatever is left of them, due or not, and the claim that
 * one may be under still brings its attempt into the history. Answers how many.
 *
 * The endpoints are read again under a lock, so that none is put off that is being resumed at this moment: whoever
 * resumes changes the endpoint first, and then finds everything that was put off before. Endpoints in the middle of a
 * change, and rows that somebody has locked, are left for the next turn. Reads ranges of `deliveries_endpoint_pending`,
 * and what it found by an array of keys: as a join, a plan may read the whole table, or the array once a row.
 */
export async function withholdDeliveries(
  db: Queryable,
  clock: ScheduleClock,
  endpointIds: readonly string[],
): Promise<number> {
  const [row] = await db.query<{ count: number }>(withholdStatement(clock, endpointIds));
  return row?.count ?? 0;
}

export function withholdStatement(clock: ScheduleClock, endpointIds: readonly string[]): Statement {
  const now = scheduleNow(clock);
  return named(
    'deliveries_withhold',
    sql`
      with quiet as (
        select id, deleted_at is not null as is_deleted
        from endpoints
        where id = any (${endpointIds}::uuid[])
          and ${isQuiet}
        for share skip locked
      ),
      picked as (
        select waiting.id, quiet.is_deleted
        from quiet
        cross join lateral (
          select id
          from deliveries
          where endpoint_id = quiet.id
            and status = 'pending'
            and not for_resource_url
            and due_at <= case when quiet.is_deleted then 'infinity' else ${now} end
          order by due_at, id
          limit ${WITHHELD_PER_TURN_MAX}
          for update skip locked
        ) waiting
        limit ${WITHHELD_PER_TURN_MAX}
      ),
      put_off as (
        update deliveries
        set due_at = ${now} + ${PAUSED_LOOK_DELAY_MS} * interval '1 millisecond',
            leased = false,
            fence = fence + 1
        where id = any (array(select id from picked where not is_deleted))
      ),
      canceled as (
        update deliveries
        set status = 'canceled', next_attempt_at = null
        where id = any (array(select id from picked where is_deleted))
      )
      select count(*)::int as count
      from picked`,
  );
}
