import type { DisputeStatus } from '@pixmesh/contracts/http/dispute';
import { allOf, type ListPage, pageOf, rowById, startOf } from '@pixmesh/postgres/newest-first';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

import type { DisputeRow } from './dispute-row.ts';
import { DISPUTE_COLUMNS, type DisputeRecord, toDisputeRow } from './disputes.sql.ts';

export type DisputeFilters = {
  accountId?: string | undefined;
  chargeId?: string | undefined;
  status?: DisputeStatus | undefined;
  endToEndId?: string | undefined;
};

/** One page of disputes for operators, newest first. Reads `disputes_newest` or `disputes_newest_of_account`. */
export async function listDisputes(
  db: Queryable,
  filters: DisputeFilters,
  page: ListPage,
): Promise<DisputeRow[]> {
  const { limit, startingAfter } = page;
  const start = startOf({}, startingAfter === null ? null : cursorOf(startingAfter));
  const rows = sql`select ${DISPUTE_COLUMNS} from disputes where ${conditions(filters)}`;
  return (await db.query<DisputeRecord>(pageOf(rows, start, limit))).map(toDisputeRow);
}

export async function disputeExists(db: Queryable, id: string): Promise<boolean> {
  return (await db.query(cursorOf(id))).length === 1;
}

function conditions(filters: DisputeFilters): Statement {
  const { accountId, chargeId, status, endToEndId } = filters;
  return allOf(
    sql`true`,
    ...(accountId === undefined ? [] : [sql`account_id = ${accountId}`]),
    ...(chargeId === undefined ? [] : [sql`disputes.charge_id = ${chargeId}`]),
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(endToEndId === undefined ? [] : [sql`disputes.end_to_end_id = ${endToEndId}`]),
  );
}

function cursorOf(id: string): Statement {
  return sql`
    select cursor.created_at, cursor.id
    from (${rowById(sql`select id, created_at from disputes`, id)}) as cursor`;
}
