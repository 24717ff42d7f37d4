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

/** Deliveries of one resource, newest first, each with its attempts. Reads `deliveries_resource`. */
export async function listDeliveries(db: Queryable, page: Page): Promise<StoredDelivery[]> {
  const rows = await db.query<DeliveryRow>(
    named(
      'deliveries_list',
      sql`
        select
          delivery.id, delivery.event, delivery.resource_id, destination.url, delivery.status,
          delivery.next_attempt_at, delivery.created_at
        from deliveries delivery
        join destinations destination on destination.resource_id = delivery.destination_id
        where delivery.resource_id = ${page.resourceId}
          and (${page.accountId}::uuid is null or delivery.account_id = ${page.accountId}::uuid)
          and (${page.startingAfter}::uuid is null or delivery.id < ${page.startingAfter}::uuid)
        order by delivery.id desc
        limit ${page.limit}`,
    ),
  );
  const attempts = await listAttempts(
    db,
    rows.map((row) => row.id),
  );
  return rows.map((row) => toDelivery(row, attempts.get(row.id) ?? []));
}

/** Attempts of many deliveries, oldest first each. Reads the primary key. */
async function listAttempts(
  db: Queryable,
  deliveryIds: readonly string[],
): Promise<Map<string, StoredAttempt[]>> {
  const rows = await db.query<AttemptRow>(
    named(
      'attempts_list',
      sql`
        select
          delivery_id, number, started_at, duration_ms, outcome, status, error, response_excerpt,
          address, manual
        from attempts
        where delivery_id = any (${deliveryIds}::uuid[])
        order by delivery_id, number`,
    ),
  );
  const byDelivery = Map.groupBy(rows, (row) => row.delivery_id);
  return new Map([...byDelivery].map(([id, group]) => [id, group.map(toAttempt)]));
}

type DeliveryRow = {
  id: string;
  event: string;
  resource_id: string;
  url: string;
  status: string;
  next_attempt_at: Date | null;
  created_at: Date;
};

type AttemptRow = {
  delivery_id: string;
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

function toDelivery(row: DeliveryRow, attempts: StoredAttempt[]): StoredDelivery {
  return {
    id: row.id,
    event: row.event,
    resourceId: row.resource_id,
    url: row.url,
    status: row.status,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
    attempts,
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
