import type { ListRequestsQuery } from '@pixmesh/contracts/admin/admin-queries';
import type { PageFor } from '@pixmesh/http/list-page';
import { keepPartitions } from '@pixmesh/postgres/keep-partitions.sql';
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
          client_address, trace_id, idempotency_mismatch, created_at
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
          ${batch.map((row) => row.clientAddress)}::text[],
          ${batch.map((row) => row.traceId)}::text[],
          ${batch.map((row) => row.idempotencyMismatch)}::boolean[],
          ${batch.map((row) => row.createdAt)}::timestamptz[]
        )
        on conflict (id) do nothing`,
    ),
  );
}

/**
 * Newest first by id, which begins with the time, so that the partitions are read one after the other until the page
 * is full. Reads the primary key or the index of a filter; a request id is a row's own id, and instants are ids too.
 * A method, or a status below 300, has no index, which each request would write: rare ones are searched for row by row.
 */
export async function listRequests(
  db: Queryable,
  { limit, startingAfter, filters }: PageFor<typeof ListRequestsQuery>,
): Promise<LoggedRequest[]> {
  const rows = await db.query<RequestRow>(
    // Not prepared under a name: each combination of filters deserves a plan of its own.
    sql`
      /* request_log_list */
      select id, account_id as "accountId", application_id as "applicationId", key_id as "keyId", method, route,
        status, duration_ms as "durationMs", request_id as "requestId",
        client_address as "clientAddress", trace_id as "traceId", idempotency_mismatch as "idempotencyMismatch", created_at as "createdAt"
      from request_log
      where (
        ${startingAfter}::uuid is null
        or id < ${startingAfter}::uuid and exists (select from request_log where id = ${startingAfter}::uuid)
      )
        and (${filters.account_id}::uuid is null or account_id = ${filters.account_id}::uuid)
        and (${filters.application_id}::uuid is null or application_id = ${filters.application_id}::uuid)
        and (${filters.key_id}::uuid is null or key_id = ${filters.key_id}::uuid)
        and (${filters.request_id}::uuid is null or id = ${filters.request_id}::uuid)
        and (${filters.method}::text is null or method = ${filters.method})
        and (${filters.route}::text is null or route = ${filters.route})
        and (${filters.status}::integer is null or status = ${filters.status}::smallint)
        and (
          ${filters.created_after}::timestamptz is null
          or id >= uuid_v7_floor(greatest(${filters.created_after}::timestamptz + interval '1 ms', 'epoch'))
        )
        and (
          ${filters.created_before}::timestamptz is null
          or id < uuid_v7_floor(greatest(${filters.created_before}::timestamptz, 'epoch'))
        )
      order by id desc
      limit ${limit}`,
  );
  return rows.map(toLoggedRequest);
}

export async function requestExists(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(
    named('request_log_exists', sql`select from request_log where id = ${id}`),
  );
  return rows.length === 1;
}

/** Makes the partitions of the weeks to come, then drops those whose every row is older than `keepDays`. */
export function maintainRequestLog(db: Queryable, keepDays: number): Promise<number> {
  return keepPartitions(db, {
    name: 'request_log',
    lease: sql`'request-log'`,
    ensure: (weeksAhead) => sql`ensure_request_log_partitions(${weeksAhead})`,
    drop: sql`drop_old_request_log_partitions(${keepDays})`,
  });
}

type Caller = NonNullable<LoggedRequest['caller']>;
type RequestRow = Omit<LoggedRequest, 'caller'> & { [Id in keyof Caller]: Caller[Id] | null };

function toLoggedRequest({ accountId, applicationId, keyId, ...row }: RequestRow): LoggedRequest {
  const known = accountId !== null && applicationId !== null && keyId !== null;
  return { ...row, caller: known ? { accountId, applicationId, keyId } : null };
}
