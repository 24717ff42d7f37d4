import { newId, type ChargeId } from '@pixmesh/kernel/ids';
import { IS_FREE } from '@pixmesh/postgres/due-rows';
import type { NamedRow } from '@pixmesh/postgres/named-checks';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { LeasedCharge } from '#charge/charge-row.ts';
import { CHARGE_COLUMNS, type ChargeRecord, toChargeRow } from '#charge/charges.sql.ts';

/**
 * A repeated callback about a Pix that was checked requests another check after this long; about ours in suspense, at
 * once.
 */
const REPEAT_AFTER_MS = 60_000;
/**
 * A charge that is looked for within this keeps its time, and so its place in every index. A check whose process has
 * died is made again then.
 */
const KEPT_MS_MAX = 45_000;

/** What an item of a callback names, as far as it can be an id at all, and the trace that it came in. */
export type NamedByCallback = {
  chargeId: ChargeId | null;
  endToEndId: string | null;
  traceparent: string | null;
};

/**
 * The checks that callbacks ask for: of the charges that they name, by txid or by a Pix that is recorded for them. Up
 * to `places` charges are leased to the caller, in the order of their names, and the check of all others is requested,
 * as is that of one which is being checked now. An end-to-end id that no charge explains becomes a notice, one row for
 * each; a charge that failed may never have been issued, and explains nothing. One statement for all of a fetch; it
 * locks the charges in the order of their ids. Reads primary keys.
 */
export async function leaseNamedCharges(
  db: Queryable,
  names: readonly NamedByCallback[],
  { places, leaseMs }: { places: number; leaseMs: number },
): Promise<NamedRow<LeasedCharge>[]> {
  const leasedFromMs = performance.now();
  const endToEndIds = names.flatMap(({ endToEndId }) => endToEndId ?? []);
  const leaseEnd = sql`now() + ${leaseMs}::int * interval '1 ms'`;
  const rows = await db.query<ChargeRecord & { is_leased: boolean; positions: number[] }>(
    named(
      'lease_named_charges',
      sql`
        with name as (
          select *
          from json_to_recordset(${JSON.stringify(names.map(toName))}::json) as name (
            position int, charge_id uuid, end_to_end_id text, traceparent text
          )
        ),
        target as (
          select position, charge_id as target_id, traceparent from name where charge_id is not null
          union
          select position, recorded.charge_id, traceparent
          from received_pix as recorded
          join name on name.end_to_end_id = recorded.end_to_end_id
          where recorded.end_to_end_id = any(${endToEndIds}::text[]) and recorded.charge_id is not null
        ),
        found as (
          select id as found_id, status as found_status, ${IS_FREE} as is_free
          from charges
          where id = any(array(select target_id from target))
          order by id
          for update
        ),
        wanted as (
          select
            found_id, is_free, array_agg(position order by position) as positions,
            (array_agg(traceparent order by position))[1] as asked_in
          from found
          join target on target_id = found_id
          group by found_id, is_free
        ),
        picked as (
          select
            found_id, asked_in, positions,
            is_free and row_number() over (partition by is_free order by positions[1]) <= ${places}::int as is_leased
          from wanted
        ),
        ${noticeUnexplained()}
        update charges
        set check_traceparent = asked_in,
            lease_token = case when is_leased then ${newId()}::uuid else lease_token end,
            lease_until = case when is_leased then ${leaseEnd} else lease_until end,
            check_at = case
              when not is_leased then '-infinity'
              when check_at > '-infinity'
                and check_at <= greatest(${leaseEnd}, now() + ${KEPT_MS_MAX}::int * interval '1 ms')
                then check_at
              else ${leaseEnd}
            end
        from picked
        where id = any(array(select found_id from picked)) and id = found_id
        returning ${CHARGE_COLUMNS}, is_leased, positions`,
    ),
  );
  return rows.map((row) => ({
    row: { ...toChargeRow(row), leasedFromMs },
    isLeased: row.is_leased,
    positions: row.positions,
  }));
}

/** A CTE that stores a notice for each Pix that no charge among `target` and `found` explains. */
function noticeUnexplained(): Statement {
  return sql`
    noticed as (
      insert into pix_notices (end_to_end_id, check_at, check_traceparent)
      select distinct on (end_to_end_id) end_to_end_id, now(), traceparent
      from name
      where end_to_end_id is not null
        and not exists (
          select
          from target
          join found on found_id = target_id
          where target.position = name.position and found_status <> 'failed'
        )
      order by end_to_end_id, position
      on conflict (end_to_end_id) do update
      set check_at = now(), checks = 0, noticed_at = now(), outcome = null, done_at = null,
          check_traceparent = excluded.check_traceparent
      where pix_notices.done_at < now() - ${REPEAT_AFTER_MS}::float8 * interval '1 ms'
        or pix_notices.outcome = 'suspended'
    )`;
}

function toName({ chargeId, endToEndId, traceparent }: NamedByCallback, position: number): object {
  return { position, charge_id: chargeId, end_to_end_id: endToEndId, traceparent };
}
