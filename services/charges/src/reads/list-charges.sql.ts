import type { ChargeStatus } from '@pixmesh/contracts/http/charge';
import type { AccountId } from '@pixmesh/kernel/ids';
import {
  allOf,
  type CreatedBetween,
  isCreatedAfter,
  type ListPage,
  pageOf,
  pageOfSlices,
  rowById,
  startOf,
} from '@pixmesh/postgres/newest-first';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

import type { ChargeRow } from '#charges/charge-row.ts';
import { CHARGE_COLUMNS, type ChargeRecord, toChargeRow } from '#charges/charges.sql.ts';
import { isShownAs } from '#charges/expiry.sql.ts';

export type ChargeFilters = CreatedBetween & {
  accountId: AccountId;
  status?: ChargeStatus | undefined;
};

/** One page of an account's charges that were created through the API (decisions 86, 97). */
export async function listCharges(
  db: Queryable,
  filters: ChargeFilters,
  page: ListPage,
): Promise<ChargeRow[]> {
  const rows = await db.query<ChargeRecord>(listStatement(filters, page));
  return rows.map(toChargeRow);
}

/**
 * The statement of a page, apart so that its plan can be looked at. It has no name: what a status narrows down to is
 * planned with the values at hand. Reads `charges_list`, with a status `charges_list_by_class`; takes no lock.
 */
export function listStatement(filters: ChargeFilters, page: ListPage): Statement {
  const { accountId, status } = filters;
  const { limit, startingAfter } = page;
  const start = startOf(
    filters,
    startingAfter === null ? null : cursorOf(accountId, startingAfter),
  );
  const ofAccount = allOf(sql`account_id = ${accountId}`, isCreatedAfter(filters));
  if (status === undefined) {
    return pageOf(select(allOf(ofAccount, sql`source = 'api'`)), start, limit);
  }
  const rows = select(allOf(ofAccount, IS_IN_SLICE, isShownAs(status)));
  return pageOfSlices(slicesOf(status), rows, { start, limit });
}

/** Whether a cursor names a charge that such a list could show; filters do not matter (decision 94). */
export async function listedChargeExists(
  db: Queryable,
  accountId: AccountId,
  id: string,
): Promise<boolean> {
  const rows = await db.query(cursorOf(accountId, id));
  return rows.length === 1;
}

/** Where the cursor's charge stands, whatever its status is by now; a foreign or checkout charge stands nowhere. */
function cursorOf(accountId: AccountId, id: string): Statement {
  return sql`
    select cursor.created_at, cursor.id
    from (${rowById(sql`select id, account_id, source, created_at from charges`, id)}) as cursor
    where cursor.account_id = ${accountId} and cursor.source = 'api'`;
}

function select(condition: Statement): Statement {
  return sql`select ${CHARGE_COLUMNS} from charges where ${condition}`;
}

/** The range of `charges_list_by_class` that a slice names, but for where the page starts in it. */
const IS_IN_SLICE = sql`
  list_class(source, status, accepted_e2e, created_at, expires_at) = slice.list_class
  and created_at > slice.created_after and expires_at > slice.expires_after`;

/** Steps of lifetimes, each with the next one, which the lifetimes of its class stay below. */
const STEPS = sql`
  (select step, lead(step) over (order by step) as next from unnest(lifetime_steps()) as step) as steps`;

/**
 * Ranges that hold every charge shown with a status, and next to no other. Open charges stand in classes of lifetimes:
 * older than the next step they have expired, younger than their own they have not (migration 0003). Times of creation
 * are whole milliseconds, so that a microsecond makes a bound an open one.
 */
function slicesOf(status: ChargeStatus): Statement {
  if (status === 'expired') {
    return sql`
        select 'open ' || step::text as list_class,
          '-infinity'::timestamptz as created_after, '-infinity'::timestamptz as expires_after,
          case
            when step = 0 then 'infinity'
            else now() - make_interval(secs => step) + interval '1 microsecond'
          end as created_below
        from ${STEPS}`;
  }
  if (status === 'pending') {
    return sql`
        select 'open ' || step::text as list_class,
          coalesce(now() - make_interval(secs => next), '-infinity') as created_after,
          now() as expires_after, 'infinity'::timestamptz as created_below
        from ${STEPS}
        union all
        ${wholeClass(sql`'accepted'`)}`;
  }
  return wholeClass(sql`${status}::text`);
}

function wholeClass(name: Statement): Statement {
  return sql`
    select ${name} as list_class, '-infinity'::timestamptz as created_after,
      '-infinity'::timestamptz as expires_after, 'infinity'::timestamptz as created_below`;
}
