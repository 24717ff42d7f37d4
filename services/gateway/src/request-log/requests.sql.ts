import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { LoggedRequest } from './logged-request.ts';

/**
 * One statement for a whole batch; a row that an earlier, unanswered try has written is left alone. Partition and
 * order follow the time inside the id.
 */
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

type RequestFilters = {
  accountId: string | null;
  applicationId: string | null;
  keyId: string | null;
  requestId: string | null;
  method: string | null;
  route: string | null;
  status: number | null;
  /** Both exclusive. */
  createdAfter: Date | null;
  createdBefore: Date | null;
};

/**
 * Newest first by id, which begins with the time, so that the partitions are read one after the other until the page
 * is full. Reads the primary key or the index of a filter; a request id is a row's own id, and instants are ids too.
 */
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
        and (${page.requestId}::uuid is null or id = ${page.requestId}::uuid)
        and (${page.method}::text is null or method = ${page.method})
        and (${page.route}::text is null or route = ${page.route})
        and (${page.status}::integer is null or status = ${page.status}::smallint)
        and (
          ${page.createdAfter}::timestamptz is null
          or id >= uuid_v7_floor(greatest(${page.createdAfter}::timestamptz + interval '1 ms', 'epoch'))
        )
        and (
          ${page.createdBefore}::timestamptz is null
          or id < uuid_v7_floor(greatest(${page.createdBefore}::timestamptz, 'epoch'))
        )
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

/** Weekly partitions are made this far ahead; the job runs every hour. */
const PARTITION_WEEKS_AHEAD = 4;

/**
 * Makes the partitions of the weeks to come and drops those whose every row is older than `keepDays`: one process of
 * the installation at a time, by the row lock on the lease. Answers how many were dropped.
 */
export async function maintainRequestLog(db: Queryable, keepDays: number): Promise<number> {
  const [row] = await db.query<{ dropped: number }>(
    named(
      'request_log_keep',
      sql`
        with lease as materialized (
          select name from leases where name = 'request-log' for update skip locked
        )
        select drop_old_request_log_partitions(${keepDays}) as dropped
        from lease, lateral (select ensure_request_log_partitions(${PARTITION_WEEKS_AHEAD})) as ensured`,
    ),
  );
  return row?.dropped ?? 0;
}

type RequestRow = {
  id: string;
  account_id: string | null;
  application_id: string | null;
  key_id: string | null;
  method: string | null;
  route: string | null;
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
