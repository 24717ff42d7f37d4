import { sql, type Statement } from '@pixmesh/postgres/sql';

/**
 * Conditions on stops, for the statements that they hold back. A statement that begins after a stop was answered sees
 * it: the answer follows its commit. Both read `payout_stops_in_force`.
 */

/** Whether payouts of an account are stopped, by a stop of its own or of all. */
export function isStopped(accountId: Statement): Statement {
  return sql`
    exists (
      select
      from payout_stops as stop
      where stop.ended_at is null and (stop.account_id is null or stop.account_id = ${accountId})
    )`;
}

/** Whether payouts of all accounts are stopped. */
export const IS_ALL_STOPPED = sql`
  exists (select from payout_stops as stop where stop.ended_at is null and stop.account_id is null)`;

/** Accounts that have a stop of their own, as an array: read once by a statement that walks many rows. */
export const STOPPED_ACCOUNTS = sql`
  array(
    select stop.account_id
    from payout_stops as stop
    where stop.ended_at is null and stop.account_id is not null
  )`;
