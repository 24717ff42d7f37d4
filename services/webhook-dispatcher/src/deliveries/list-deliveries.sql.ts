import assert from 'node:assert';

import type {
  DeliveryAttempt,
  DeliveryStatus,
} from '@pixmesh/contracts/internal/operator-deliveries';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

export type StoredAttempt = {
  number: number;
  startedAt: Date;
  durationMs: number;
  outcome: DeliveryAttempt['outcome'];
  status: number | null;
  error: string | null;
  responseExcerpt: string | null;
  address: string | null;
  manual: boolean;
};

export type StoredDelivery = {
  id: string;
  accountId: string;
  event: string;
  eventId: string;
  resourceId: string;
  /** Null for the resource's own URL. */
  endpointId: string | null;
  /** The URL in use: the one an endpoint has now; that of the resource where the delivery stands for it too. */
  url: string;
  status: DeliveryStatus;
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

/** Deliveries of one resource, newest first, each with its attempts, oldest first. */
export async function listDeliveries(db: Queryable, page: Page): Promise<StoredDelivery[]> {
  return await readDescribed(db, listDeliveriesStatement(page));
}

/**
 * The partitions are read one after the other until the page is full, and of attempts only those of its own: reads the
 * index of `deliveries_resource` and primary keys.
 */
export function listDeliveriesStatement(page: Page): Statement {
  return named(
    'deliveries_list',
    describeDeliveries(sql`
        select *
        from deliveries
        where deliveries.resource_id = ${page.resourceId}
          and (${page.accountId}::uuid is null or deliveries.account_id = ${page.accountId}::uuid)
          and deliveries.id < coalesce(${page.startingAfter}::uuid, ${LAST_ID}::uuid)
        order by deliveries.id desc
        limit ${page.limit}`),
  );
}

/** What a statement of `describeDeliveries` finds. */
export async function readDescribed(
  db: Queryable,
  statement: Statement,
): Promise<StoredDelivery[]> {
  const rows = await db.query<JoinedRow>(statement);
  return [...Map.groupBy(rows, (row) => row.id).values()].map(toDelivery);
}

/**
 * Rows of `deliveries`, selected by `chosen`, newest first, with the URL in use, the next attempt and all attempts. One
 * statement, so that a delivery's state and its attempts are of one moment.
 */
export function describeDeliveries(chosen: Statement): Statement {
  return sql`
      with page as materialized (${chosen}),
      described as (
        select
          page.id, page.account_id, page.event, page.event_id, page.resource_id, page.endpoint_id,
          coalesce(
            (
              select url
              from destinations
              where destinations.resource_id = page.resource_id
                and (page.endpoint_id is null or page.for_resource_url)
            ),
            (select url from endpoints where endpoints.id = page.endpoint_id)
          ) as url,
          page.status as delivery_status,
          (select due_at from queue where queue.id = page.id) as next_attempt_at,
          page.created_at
        from page
      )
      select
        described.*, attempt.number, attempt.started_at, attempt.duration_ms, attempt.outcome,
        attempt.status, attempt.error, attempt.response_excerpt, attempt.address, attempt.manual
      from described
      left join lateral (
        select (row_number() over (order by started_at, id))::int as number, attempts.*
        from attempts
        where delivery_id = described.id
      ) as attempt on true
      order by described.id desc, attempt.number`;
}

/** RFC 9562 section 5.10: behind every id. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

type DeliveryRow = {
  id: string;
  account_id: string;
  event: string;
  event_id: string;
  resource_id: string;
  endpoint_id: string | null;
  url: string;
  delivery_status: DeliveryStatus;
  next_attempt_at: Date | null;
  created_at: Date;
};

type AttemptRow = {
  number: number;
  started_at: Date;
  duration_ms: number;
  outcome: DeliveryAttempt['outcome'];
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
    accountId: row.account_id,
    event: row.event,
    eventId: row.event_id,
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
