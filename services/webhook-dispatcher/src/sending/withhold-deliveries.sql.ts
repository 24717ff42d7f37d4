import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { type ScheduleClock, scheduleNow } from './schedule-clock.ts';

/**
 * Until a paused endpoint's delivery is looked at again. Resuming sets `due_at` back at once; this only bounds how
 * long a delivery waits should that ever be missed, and how often what waits is scanned.
 */
export const PAUSED_LOOK_DELAY_MS = 15 * 60_000;

/**
 * What becomes of due deliveries whose endpoint is not to be sent to: a paused one's wait and cost no attempt
 * (decision 157), a deleted one's are canceled (decision 158). Answers how many. The endpoints are read again under
 * a lock, so that none is put off that is being resumed at this moment: whoever resumes changes the endpoint first,
 * and then finds everything that was put off before. Endpoints in the middle of a change are left for the next turn.
 */
export async function withholdDeliveries(
  db: Queryable,
  clock: ScheduleClock,
  deliveryIds: readonly string[],
): Promise<number> {
  const rows = await db.query<{ id: string }>(withholdStatement(clock, deliveryIds));
  return rows.length;
}

export function withholdStatement(clock: ScheduleClock, deliveryIds: readonly string[]): Statement {
  const now = scheduleNow(clock);
  return named(
    'deliveries_withhold',
    sql`
        with quiet as (
          select id, deleted_at is not null as is_deleted
          from endpoints
          where id = any (array(select endpoint_id from deliveries where id = any (${deliveryIds}::uuid[])))
            and (not active or deleted_at is not null)
          for share skip locked
        )
        update deliveries delivery
        set status = case when quiet.is_deleted then 'canceled' else delivery.status end,
            next_attempt_at = case when quiet.is_deleted then null else delivery.next_attempt_at end,
            due_at = ${now} + ${PAUSED_LOOK_DELAY_MS} * interval '1 millisecond',
            leased = false,
            fence = fence + 1
        from quiet
        where delivery.id = any (${deliveryIds}::uuid[])
          and delivery.endpoint_id = quiet.id
          and case when delivery.status = 'pending' then delivery.due_at <= ${now} end
        returning delivery.id`,
  );
}
