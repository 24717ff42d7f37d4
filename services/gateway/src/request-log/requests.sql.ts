import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { LoggedRequest } from './request-log.ts';

/** One statement for a whole batch; a row that an earlier, unanswered try has written is left alone. */
export async function insertRequests(
  db: Queryable,
  batch: readonly LoggedRequest[],
): Promise<void> {
  await db.query(
    named(
      'request_log_insert',
      sql`
        insert into request_log (
          id, account_id, application_id, key_id, method, route, status, duration_ms, request_id,
          idempotency_mismatch, created_at
        )
        select *
        from unnest(
          ${batch.map((row) => row.id)}::uuid[],
          ${batch.map((row) => row.caller?.accountId ?? null)}::uuid[],
          ${batch.map((row) => row.caller?.applicationId ?? null)}::uuid[],
          ${batch.map((row) => row.caller?.keyId ?? null)}::uuid[],
          ${batch.map((row) => row.method)}::text[],
          ${batch.map((row) => row.route)}::text[],
          ${batch.map((row) => row.status)}::smallint[],
          ${batch.map((row) => row.durationMs)}::integer[],
          ${batch.map((row) => row.requestId)}::uuid[],
          ${batch.map((row) => row.idempotencyMismatch)}::boolean[],
          ${batch.map((row) => row.createdAt)}::timestamptz[]
        )
        on conflict (id) do nothing`,
    ),
  );
}

export type RequestFilters = {
  accountId: string | null;
  applicationId: string | null;
  keyId: string | null;
  requestId: string | null;
  method: string | null;
  route: string | null;
  status: number | null;
};

/** Newest first by id, which begins with the time; reads the primary key or `request_log_account`. */
export async function listRequests(
  db: Queryable,
  page: RequestFilters & { limit: number; startingAfter: string | null },
): Promise<LoggedRequest[]> {
  const rows = await db.query<RequestRow>(
    // Not prepared under a name: each combination of filters deserves a plan of its own.
    sql`
      /* request_log_list */
      select id, account_id, application_id, key_id, method, route, status, duration_ms, request_id,
        idempotency_mismatch, created_at
      from request_log
      where (${page.startingAfter}::uuid is null or id < ${page.startingAfter}::uuid)
        and (${page.accountId}::uuid is null or account_id = ${page.accountId}::uuid)
        and (${page.applicationId}::uuid is null or application_id = ${page.applicationId}::uuid)
        and (${page.keyId}::uuid is null or key_id = ${page.keyId}::uuid)
        and (${page.requestId}::uuid is null or request_id = ${page.requestId}::uuid)
        and (${page.method}::text is null or method = ${page.method})
        and (${page.route}::text is null or route = ${page.route})
        and (${page.status}::integer is null or status = ${page.status})
      order by id desc
      limit ${page.limit}`,
  );
  return rows.map(toLoggedRequest);
}

export async function requestExists(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(
    named('request_log_exists', sql`select from request_log where id = ${id}`),
  );
  return rows.length === 1;
}

type RequestRow = {
  id: string;
  account_id: string | null;
  application_id: string | null;
  key_id: string | null;
  method: string;
  route: string;
  status: number;
  duration_ms: number;
  request_id: string;
  idempotency_mismatch: boolean;
  created_at: Date;
};

function toLoggedRequest(row: RequestRow): LoggedRequest {
  const { account_id: accountId, application_id: applicationId, key_id: keyId } = row;
  const known = accountId !== null && applicationId !== null && keyId !== null;
  return {
    id: row.id,
    caller: known ? { accountId, applicationId, keyId } : null,
    method: row.method,
    route: row.route,
    status: row.status,
    durationMs: row.duration_ms,
    requestId: row.request_id,
    idempotencyMismatch: row.idempotency_mismatch,
    createdAt: row.created_at,
  };
}
