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

/**
 * All other accounts, as ranges between `behind` and `before`: a statement that asks whether any of them has a row reads
 * none of a stopped account.
 */
export const UNSTOPPED_RANGES = sql`
  select account_id as behind, lead(account_id) over (order by account_id) as before
  from (
    select unnest(${STOPPED_ACCOUNTS})
    union all values
      ('00000000-0000-0000-0000-000000000000'::uuid), ('ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
  ) as bound (account_id)`;
