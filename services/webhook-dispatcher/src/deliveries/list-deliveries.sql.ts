import assert from 'node:assert';

import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

export type StoredAttempt = {
  number: number;
  startedAt: Date;
  durationMs: number;
  outcome: string;
  status: number | null;
  error: string | null;
  responseExcerpt: string | null;
  address: string | null;
  manual: boolean;
};

export type StoredDelivery = {
  id: string;
  event: string;
  resourceId: string;
  /** Null for the resource's own URL. */
  endpointId: string | null;
  /** The URL in use: the one an endpoint has now; that of the resource where the delivery stands for it too. */
  url: string;
  status: string;
  nextAttemptAt: Date | null;
  createdAt: Date;
  attempts: StoredAttempt[];
};

type Page = {
  resourceId: string;
  /** Only this account's deliveries; null for a call that a service makes for itself. */
  accountId: string | null;
  limit: number;
  startingAfter: string | null;
};

/**
 * Deliveries of one resource, newest first, each with its attempts, oldest first. One statement, so that a
 * delivery's state and its attempts are of one moment. Reads `deliveries_resource` and `attempts_number`.
 */
export async function listDeliveries(db: Queryable, page: Page): Promise<StoredDelivery[]> {
  const rows = await db.query<JoinedRow>(
    named(
      'deliveries_list',
      sql`
        with page as (
          select
            delivery.id, delivery.event, delivery.resource_id, delivery.endpoint_id,
            coalesce(destination.url, endpoint.url) as url, delivery.status as delivery_status,
            delivery.next_attempt_at, delivery.created_at
          from deliveries delivery
          left join endpoints endpoint on endpoint.id = delivery.endpoint_id
          left join destinations destination on destination.resource_id = delivery.resource_id
            and (delivery.endpoint_id is null or delivery.for_resource_url)
          where delivery.resource_id = ${page.resourceId}
            and (${page.accountId}::uuid is null or delivery.account_id = ${page.accountId}::uuid)
            and (${page.startingAfter}::uuid is null or delivery.id < ${page.startingAfter}::uuid)
          order by delivery.id desc
          limit ${page.limit}
        )
        select
          page.*, attempt.number, attempt.started_at, attempt.duration_ms, attempt.outcome,
          attempt.status, attempt.error, attempt.response_excerpt, attempt.address, attempt.manual
        from page
        left join attempts attempt on attempt.delivery_id = page.id
        order by page.id desc, attempt.number`,
    ),
  );
  return [...Map.groupBy(rows, (row) => row.id).values()].map(toDelivery);
}

type DeliveryRow = {
  id: string;
  event: string;
  resource_id: string;
  endpoint_id: string | null;
  url: string;
  delivery_status: string;
  next_attempt_at: Date | null;
  created_at: Date;
};

type AttemptRow = {
  number: number;
  started_at: Date;
  duration_ms: number;
  outcome: string;
  status: number | null;
  error: string | null;
  response_excerpt: string | null;
  address: string | null;
  manual: boolean;
};

/** A delivery without attempts comes as one row whose attempt is empty. */
type JoinedRow = DeliveryRow & (AttemptRow | { number: null });

function toDelivery(rows: readonly JoinedRow[]): StoredDelivery {
  const [row] = rows;
  assert(row, 'a group has at least one row');
  return {
    id: row.id,
    event: row.event,
    resourceId: row.resource_id,
    endpointId: row.endpoint_id,
    url: row.url,
    status: row.delivery_status,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
    attempts: rows.filter((joined) => joined.number !== null).map(toAttempt),
  };
}

function toAttempt(row: AttemptRow): StoredAttempt {
  return {
    number: row.number,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    outcome: row.outcome,
    status: row.status,
    error: row.error,
    responseExcerpt: row.response_excerpt,
    address: row.address,
    manual: row.manual,
  };
}
