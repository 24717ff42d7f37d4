import type { ListRecoveriesQuery } from '@pixmesh/contracts/internal/operator-deliveries';
import {
  allOf,
  isCreatedAfter,
  type ListPage,
  pageOf,
  rowById,
  startOf,
} from '@pixmesh/postgres/newest-first';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

import { RECOVERY_COLUMNS } from './recoveries.sql.ts';
import type { RecoveryRow } from './recovery-row.ts';

/** One page of recoveries of all accounts, newest first. Reads `recoveries_by_time`. */
export async function listRecoveries(
  db: Queryable,
  filters: ListRecoveriesQuery,
  { limit, startingAfter }: ListPage,
): Promise<RecoveryRow[]> {
  const span = { createdAfter: filters.created_after, createdBefore: filters.created_before };
  const start = startOf(span, startingAfter === null ? null : placeOf(startingAfter));
  const wanted = allOf(isCreatedAfter(span), ...conditions(filters));
  const rows = sql`select ${RECOVERY_COLUMNS} from recoveries where ${wanted}`;
  return await db.query<RecoveryRow>(pageOf(rows, start, limit));
}

export async function recoveryExists(db: Queryable, id: string): Promise<boolean> {
  return (await db.query(placeOf(id))).length === 1;
}

function placeOf(id: string): Statement {
  return rowById(sql`select created_at, id from recoveries`, id);
}

function conditions(filters: ListRecoveriesQuery): Statement[] {
  const { account_id, application_id, endpoint_id, event, status } = filters;
  const wanted: Statement[] = [];
  if (account_id !== undefined) wanted.push(sql`account_id = ${account_id}`);
  if (application_id !== undefined) wanted.push(sql`application_id = ${application_id}`);
  if (endpoint_id !== undefined) wanted.push(sql`endpoint_id = ${endpoint_id}`);
  if (event !== undefined) wanted.push(sql`event = ${event}`);
  if (status !== undefined) wanted.push(sql`status = ${status}`);
  return wanted;
}
