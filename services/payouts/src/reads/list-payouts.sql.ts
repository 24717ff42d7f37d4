import { PayoutStatus } from '@pixmesh/contracts/http/payout';
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

import { isVisible, type VisiblePayout } from '#payouts/payout-row.ts';
import { PAYOUT_COLUMNS, type PayoutRecord, toPayoutRow } from '#payouts/payouts.sql.ts';

export type PayoutFilters = CreatedBetween & {
  /** Has to be said, so that no tenant's list forgets it; undefined, over all accounts, is for operators. */
  accountId: string | undefined;
  status?: PayoutStatus | undefined;
  source?: 'api' | 'dashboard' | undefined;
  reference?: string | undefined;
  endToEndId?: string | undefined;
};

/** One page, newest first, ties by id (decision 87); a cursor that names nothing leaves it empty. */
export async function listPayouts(
  db: Queryable,
  filters: PayoutFilters,
  page: ListPage,
): Promise<VisiblePayout[]> {
  const rows = await db.query<PayoutRecord>(listStatement(filters, page));
  return rows.map(toPayoutRow).filter(isVisible);
}

/**
 * The statement of a page, apart so that its plan can be checked. Reads `payouts_list_by_status` for one account,
 * a range for each status, over all `payouts_open` for a status that is not an end, `payouts_failed` for the ends that
 * are rare, `payouts_of_operators` for their own, and `payouts_by_time` otherwise; takes no lock.
 */
export function listStatement(filters: PayoutFilters, page: ListPage): Statement {
  const { accountId, status } = filters;
  const { limit, startingAfter } = page;
  const start = startOf(filters, startingAfter === null ? null : cursorOf(filters, startingAfter));
  const rows = sql`select ${PAYOUT_COLUMNS} from payouts where ${conditions(filters)}`;
  if (accountId === undefined) return pageOf(rows, start, limit);
  const statuses = status === undefined ? PayoutStatus.options : [status];
  const slices = sql`
    select status, 'infinity'::timestamptz as created_below from unnest(${statuses}::text[]) as status`;
  return pageOfSlices(slices, rows, { start, limit });
}

/** Whether a cursor names a payout that such a list could show; other filters do not matter (decision 94). */
export async function listedPayoutExists(
  db: Queryable,
  filters: PayoutFilters,
  id: string,
): Promise<boolean> {
  const rows = await db.query(cursorOf(filters, id));
  return rows.length === 1;
}

function conditions(filters: PayoutFilters): Statement {
  const { source, reference, endToEndId } = filters;
  const others = [isCreatedAfter(filters)];
  if (source !== undefined) others.push(sql`source = ${source}`);
  if (reference !== undefined) others.push(sql`reference = ${reference}`);
  if (endToEndId !== undefined) others.push(sql`end_to_end_id = ${endToEndId}`);
  return allOf(rangeOf(filters), ...others);
}

/** The range of the index that the list is read from. */
function rangeOf({ accountId, status }: PayoutFilters): Statement {
  if (accountId !== undefined) return sql`account_id = ${accountId} and status = slice.status`;
  return status === undefined ? sql`status <> 'intent'` : sql`status = ${status}`;
}

/**
 * Where the cursor's payout stands, whatever its status is by now; one of another account or an intent has no place.
 */
function cursorOf(filters: PayoutFilters, id: string): Statement {
  const { accountId = null } = filters;
  return sql`
    select cursor.created_at, cursor.id
    from (${rowById(sql`select id, account_id, status, created_at from payouts`, id)}) as cursor
    where cursor.status <> 'intent'
      and cursor.account_id = coalesce(${accountId}::uuid, cursor.account_id)`;
}
