import { newId, type PayoutId } from '@pixmesh/kernel/ids';
import { IS_FREE } from '@pixmesh/postgres/due-rows';
import type { NamedRow } from '@pixmesh/postgres/named-checks';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { PayoutRow } from '#payouts/payout-row.ts';
import { PAYOUT_COLUMNS, type PayoutRecord, toPayoutRow } from '#payouts/payouts.sql.ts';

/** What a callback names a payout by, and the trace that it came in. */
export type NamedPayout = {
  id: PayoutId | null;
  endToEndId: string | null;
  traceparent: string | null;
};

/**
 * The checks that callbacks ask for: up to `places` payouts are leased to the caller, in the order of their names, and
 * the check of all others is requested, as is that of one which is being checked now. One statement for all of a fetch.
 * Reads primary key and `payouts_end_to_end_id`; locks the rows in the order of their ids.
 *
 * A lease leaves `check_at` where the row is looked for before the lease ends, so that it writes no index; `due_at`
 * says when a check that never ends is taken over.
 */
export async function leaseNamedPayouts(
  db: Queryable,
  names: readonly NamedPayout[],
  { places, leaseMs }: { places: number; leaseMs: number },
): Promise<NamedRow<PayoutRow>[]> {
  const ids = names.flatMap(({ id }) => id ?? []);
  const endToEndIds = names.flatMap(({ endToEndId }) => endToEndId ?? []);
  const leaseEnd = sql`now() + ${leaseMs}::int * interval '1 ms'`;
  const rows = await db.query<PayoutRecord & { is_leased: boolean; positions: number[] }>(
    named(
      'payouts_lease_named',
      sql`
        with name as (
          select *
          from json_to_recordset(${JSON.stringify(names.map(toName))}::json) as name (
            position int, id uuid, end_to_end_id text, traceparent text
          )
        ),
        found as (
          select id as found_id, end_to_end_id as found_end_to_end_id, ${IS_FREE} as is_free
          from payouts
          where id = any(${ids}::uuid[]) or end_to_end_id = any(${endToEndIds}::text[])
          order by id
          for update
        ),
        wanted as (
          select
            found_id, is_free, array_agg(position order by position) as positions,
            (array_agg(traceparent order by position))[1] as asked_in
          from found
          join name on name.id = found_id or name.end_to_end_id = found_end_to_end_id
          group by found_id, is_free
        ),
        picked as (
          select
            found_id, asked_in, positions,
            is_free and row_number() over (partition by is_free order by positions[1]) <= ${places}::int as is_leased
          from wanted
        )
        update payouts
        set check_traceparent = coalesce(asked_in, check_traceparent),
            lease_token = case when is_leased then ${newId()}::uuid else lease_token end,
            lease_until = case when is_leased then ${leaseEnd} else lease_until end,
            due_at = case when is_leased then ${leaseEnd} end,
            check_at = case
              when not is_leased then '-infinity'
              when check_at > '-infinity' and check_at <= ${leaseEnd} then check_at
              else ${leaseEnd}
            end
        from picked
        where id = any(array(select found_id from picked)) and id = found_id
        returning ${PAYOUT_COLUMNS}, is_leased, positions`,
    ),
  );
  return rows.map((row) => ({
    row: toPayoutRow(row),
    isLeased: row.is_leased,
    positions: row.positions,
  }));
}

function toName({ id, endToEndId, traceparent }: NamedPayout, position: number): object {
  return { position, id, end_to_end_id: endToEndId, traceparent };
}
