import type { ChargeStatus } from '@pixmesh/contracts/http/charge';
import type { AccountId } from '@pixmesh/kernel/ids';
import {
  allOf,
  columnsOf,
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

import type { ShownCharge } from '#charge/charge-row.ts';
import { SHOWN_COLUMNS, type ShownRecord, toShownCharge } from '#charge/charges.sql.ts';
import { isShownAs } from '#charge/expiry.sql.ts';

import { isInSlice, selectCharges, slicesOf } from './list-slices.sql.ts';

export type ChargeFilters = CreatedBetween & {
  accountId: AccountId;
  status?: ChargeStatus | undefined;
};

/** One page of an account's charges that were created through the API (decisions 86, 97). */
export async function listCharges(
  db: Queryable,
  filters: ChargeFilters,
  page: ListPage,
): Promise<ShownCharge[]> {
  const rows = await db.query<ShownRecord>(listStatement(filters, page));
  return rows.map(toShownCharge);
}

/**
 * The statement of a page, apart so that tests can explain it. It has no name: what a status narrows down to is
 * planned with the values at hand. Reads `charges_list`, with a status `charges_list_by_class`; takes no lock.
 */
export function listStatement(filters: ChargeFilters, page: ListPage): Statement {
  const { limit, startingAfter } = page;
  const cursor = startingAfter === null ? null : cursorOf(filters.accountId, startingAfter);
  return columnsOf(pageOfListed(filters, startOf(filters, cursor), limit), SHOWN_COLUMNS);
}

/** A page of what `/v1` shows of an account, from a place on that the caller has chosen. */
export function pageOfListed(filters: ChargeFilters, start: Statement, limit: number): Statement {
  const { accountId, status } = filters;
  const ofAccount = allOf(sql`account_id = ${accountId}`, isCreatedAfter(filters));
  if (status === undefined) {
    return pageOf(selectCharges(allOf(ofAccount, sql`source = 'api'`)), start, limit);
  }
  const rows = selectCharges(allOf(ofAccount, isInSlice(LIST_CLASS), isShownAs(status)));
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

/** As `charges_list_by_class` has it. */
const LIST_CLASS = sql`list_class(source, status, accepted_e2e, created_at, expires_at)`;
