import type { ChargeStatus } from '@pixmesh/contracts/http/charge';
import type { AccountId } from '@pixmesh/kernel/ids';
import {
  allOf,
  type CreatedBetween,
  isCreatedAfter,
  type ListPage,
  pageOf,
  pageOfBoth,
  pageOfSlices,
  rowById,
  startOf,
} from '@pixmesh/postgres/newest-first';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

import type { ChargeRow } from '#charge/charge-row.ts';
import { type ChargeRecord, toChargeRow } from '#charge/charges.sql.ts';
import { isShownAs } from '#charge/expiry.sql.ts';
import { pageOfListed } from '#charge/reads/list-charges.sql.ts';
import { everySlice, isInSlice, selectCharges, slicesOf } from '#charge/reads/list-slices.sql.ts';

export type OperatorChargeFilters = CreatedBetween & {
  /** Undefined: over all accounts. */
  accountId?: AccountId | undefined;
  status?: ChargeStatus | undefined;
  source?: ChargeRow['source'] | undefined;
  reference?: string | undefined;
  endToEndId?: string | undefined;
};

/** One page of charges whatever made them, newest first, ties by id (decision 87). */
export async function listOperatorCharges(
  db: Queryable,
  filters: OperatorChargeFilters,
  page: ListPage,
): Promise<ChargeRow[]> {
  const rows = await db.query<ChargeRecord>(operatorListStatement(filters, page));
  return rows.map(toChargeRow);
}

/**
 * The statement of a page, apart so that tests can explain it. Reads the index of the filter that narrows most:
 * `received_pix_pkey`, `charges_reference`, those of what `/v1` does not show, those of an account's list, else
 * `charges_by_class`; the other filters are compared row by row. Takes no lock.
 */
export function operatorListStatement(filters: OperatorChargeFilters, page: ListPage): Statement {
  const { accountId, status, source, reference, endToEndId } = filters;
  const { limit, startingAfter } = page;
  const start = startOf(filters, startingAfter === null ? null : cursorOf(filters, startingAfter));
  const pageWhere = (range: Statement) =>
    pageOf(selectCharges(allOf(range, ...conditions(filters))), start, limit);
  // Recorded once and never taken back: also while the Pix is being credited.
  if (endToEndId !== undefined) return pageWhere(isPaidBy(endToEndId));
  if (reference !== undefined) return pageWhere(sql`reference = ${reference}`);
  const unlisted = pageWhere(sql`source <> 'api'`);
  if (source !== undefined && source !== 'api') return unlisted;
  if (accountId !== undefined) {
    const listed = pageOfListed({ ...filters, accountId }, start, limit);
    return source === 'api' ? listed : pageOfBoth(listed, unlisted, limit);
  }
  const rows = selectCharges(allOf(isInSlice(CLASS_OF_ALL), ...conditions(filters)));
  return pageOfSlices(status === undefined ? everySlice() : slicesOf(status), rows, {
    start,
    limit,
  });
}

/** Whether a cursor names a charge that such a list could show; filters but the account do not matter (decision 94). */
export async function operatorListHas(
  db: Queryable,
  filters: OperatorChargeFilters,
  id: string,
): Promise<boolean> {
  const rows = await db.query(cursorOf(filters, id));
  return rows.length === 1;
}

function isPaidBy(endToEndId: string): Statement {
  return sql`id = (
    select charge_id from received_pix
    where end_to_end_id = ${endToEndId} and disposition = 'credit'
  )`;
}

/** As `charges_by_class` has it. */
const CLASS_OF_ALL = sql`list_class('api', status, accepted_e2e, created_at, expires_at)`;

function conditions(filters: OperatorChargeFilters): Statement[] {
  const { accountId, status, source } = filters;
  const wanted = [isCreatedAfter(filters)];
  if (accountId !== undefined) wanted.push(sql`account_id = ${accountId}`);
  if (status !== undefined) wanted.push(isShownAs(status));
  if (source !== undefined) wanted.push(sql`source = ${source}`);
  return wanted;
}

/** Where the cursor's charge stands, whatever its status is by now. */
function cursorOf({ accountId = null }: { accountId?: AccountId | null | undefined }, id: string) {
  return sql`
    select cursor.created_at, cursor.id
    from (${rowById(sql`select id, account_id, created_at from charges`, id)}) as cursor
    where cursor.account_id = coalesce(${accountId}::uuid, cursor.account_id)`;
}
