import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { urlInUse } from '#deliveries/url-in-use.sql.ts';

/** A delivery, or one of its attempts, as a step of a resource's life. */
export type TimelineStep = {
  at: Date;
  resourceId: string;
  deliveryId: string;
  endpointId: string | null;
  event: string;
  /** The URL in use. */
  url: string | null;
  status: string;
  /** Null for the delivery itself. */
  attempt: {
    id: string;
    number: number;
    durationMs: number;
    outcome: string;
    status: number | null;
    error: string | null;
    address: string | null;
    manual: boolean;
  } | null;
};

/**
 * The first `limit` steps of what was sent about these resources, in the order of their times. Reads of each resource
 * a range of `deliveries_resource`, then attempts by their deliveries, no more than `limit` of each.
 */
export async function readTimeline(
  db: Queryable,
  resourceIds: readonly string[],
  limit: number,
): Promise<TimelineStep[]> {
  const rows = await db.query<StepRecord>(timelineStatement(resourceIds, limit));
  return rows.map(toStep);
}

export function timelineStatement(resourceIds: readonly string[], limit: number): Statement {
  return named(
    'timeline_deliveries',
    sql`
      with delivery as materialized (
        select chosen.*
        from unnest(${resourceIds}::uuid[]) as asked (id)
        cross join lateral (
          select id, resource_id, endpoint_id, for_resource_url, event, status, created_at
          from deliveries
          where deliveries.resource_id = asked.id
          order by id
          limit (select ${limit}::int)
        ) chosen
        order by id
        limit (select ${limit}::int)
      ),
      step as (
        select id as delivery_id, created_at as at, null::uuid as attempt_id, null::int as number,
          null::int as duration_ms, null::text as outcome, null::int as attempt_status, null::text as error,
          null::text as address, null::boolean as manual
        from delivery
        union all
        select delivery.id, attempt.started_at, attempt.id, attempt.number, attempt.duration_ms, attempt.outcome,
          attempt.status, attempt.error, attempt.address, attempt.manual
        from delivery
        cross join lateral (
          select
            id, started_at, duration_ms, outcome, status, error, address, manual,
            (row_number() over (order by started_at, id))::int as number
          from attempts
          where attempts.delivery_id = delivery.id
          order by started_at, id
          limit (select ${limit}::int)
        ) attempt
      ),
      page as (
        select *
        from step
        order by at, attempt_id is not null, delivery_id, attempt_id
        limit (select ${limit}::int)
      )
      select
        page.*, delivery.resource_id, delivery.endpoint_id, delivery.event, delivery.status,
        ${urlInUse(sql`delivery`)} as url
      from page
      join delivery on delivery.id = page.delivery_id
      order by page.at, page.attempt_id is not null, page.delivery_id, page.attempt_id`,
  );
}

type StepRecord = {
  at: Date;
  resource_id: string;
  delivery_id: string;
  endpoint_id: string | null;
  event: string;
  url: string | null;
  status: string;
  attempt_id: string | null;
  number: number;
  duration_ms: number;
  outcome: string;
  attempt_status: number | null;
  error: string | null;
  address: string | null;
  manual: boolean;
};

function toStep(row: StepRecord): TimelineStep {
  const { attempt_id: attemptId } = row;
  return {
    at: row.at,
    resourceId: row.resource_id,
    deliveryId: row.delivery_id,
    endpointId: row.endpoint_id,
    event: row.event,
    url: row.url,
    status: row.status,
    attempt:
      attemptId === null
        ? null
        : {
            id: attemptId,
            number: row.number,
            durationMs: row.duration_ms,
            outcome: row.outcome,
            status: row.attempt_status,
            error: row.error,
            address: row.address,
            manual: row.manual,
          },
  };
}
