import { sql, type Statement } from '@pixmesh/postgres/sql';

/**
 * The CTEs `gone`, `ended`: rows of the CTE `picked` (`id`, `delivery_id`) leave the queue, and of their deliveries
 * those that are pending get this status. The bounds on the ids spare weeks that have none of them, and leave no doubt
 * to a plan that was made while a week was empty.
 */
export function endPicked(status: 'canceled' | 'failed' | 'skipped'): Statement {
  return sql`
      gone as (
        delete from queue
        where id = any (array(select id from picked))
      ),
      ended as (
        update deliveries
        set status = ${status}
        where id = any (array(select delivery_id from picked))
          and id >= (select delivery_id from picked order by delivery_id limit 1)
          and id <= (select delivery_id from picked order by delivery_id desc limit 1)
          and status = 'pending'
      )`;
}
