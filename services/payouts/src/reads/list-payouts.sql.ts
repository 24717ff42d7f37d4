import type { PayoutStatus } from '@pixmesh/contracts/http/payout';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { isVisible, type VisiblePayout } from '#payouts/payout-row.ts';
import { PAYOUT_COLUMNS, type PayoutRecord, toPayoutRow } from '#payouts/payouts.sql.ts';

export type PayoutFilters = {
  /** Has to be said, so that no tenant's list forgets it; undefined, over all accounts, is for operators. */
  accountId: string | undefined;
  status?: PayoutStatus | undefined;
  source?: 'api' | 'dashboard' | undefined;
  reference?: string | undefined;
  endToEndId?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
};

export type PayoutPage = { limit: number; startingAfter: string | null };

/**
 * One page, newest first, ties by id (decision 87). Reads `payouts_list` backwards for one account and
 * `payouts_by_time` over all; a cursor that names nothing leaves the page empty.
 */
export async function listPayouts(
  db: Queryable,
  filters: PayoutFilters,
  page: PayoutPage,
): Promise<VisiblePayout[]> {
  const rows = await db.query<PayoutRecord>(listStatement(filters, page));
  return rows.map(toPayoutRow).filter(isVisible);
}

/** The statement of a page, apart so that its plan can be looked at. */
export function listStatement(filters: PayoutFilters, page: PayoutPage): Statement {
  return sql`
    select ${PAYOUT_COLUMNS}
    from payouts
    where ${conditions(filters)} ${afterCursor(filters, page.startingAfter)}
    order by created_at desc, id desc
    limit ${page.limit}`;
}

/** Whether a cursor names a payout that such a list could show; other filters do not matter (decision 94). */
export async function listedPayoutExists(
  db: Queryable,
  filters: PayoutFilters,
  id: string,
): Promise<boolean> {
  const { accountId = null } = filters;
  const rows = await db.query(
    named(
      'payouts_listed_exists',
      sql`
        select id from payouts
        where id = ${id} and status <> 'intent' and account_id = coalesce(${accountId}::uuid, account_id)`,
    ),
  );
  return rows.length === 1;
}

/** Dates are strict, and compared at the milliseconds that are stored (decision 88). */
function conditions(filters: PayoutFilters): Statement {
  const { accountId, status, source, reference, endToEndId, createdAfter, createdBefore } = filters;
  const all = [sql`status <> 'intent'`];
  if (accountId !== undefined) all.push(sql`account_id = ${accountId}`);
  if (status !== undefined) all.push(sql`status = ${status}`);
  if (source !== undefined) all.push(sql`source = ${source}`);
  if (reference !== undefined) all.push(sql`reference = ${reference}`);
  if (endToEndId !== undefined) all.push(sql`end_to_end_id = ${endToEndId}`);
  if (createdAfter !== undefined) all.push(sql`created_at > ${createdAfter}`);
  if (createdBefore !== undefined) all.push(sql`created_at < ${createdBefore}`);
  return all.reduce((joined, next) => sql`${joined} and ${next}`);
}

/** Only the cursor's position counts; one of another account or of an intent has none. */
function afterCursor(filters: PayoutFilters, id: string | null): Statement {
  if (id === null) return sql``;
  const { accountId = null } = filters;
  return sql`
    and (created_at, id) < (
      (
        select cursor.created_at from payouts as cursor
        where cursor.id = ${id} and cursor.status <> 'intent'
          and cursor.account_id = coalesce(${accountId}::uuid, cursor.account_id)
      ),
      ${id}::uuid
    )`;
}
