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
  deliveryStatus: string;
} & ({ attemptId: null } | AttemptMade);

export type AttemptMade = {
  attemptId: string;
  number: number;
  durationMs: number;
  outcome: string;
  status: number | null;
  error: string | null;
  address: string | null;
  manual: boolean;
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
  return await db.query<TimelineStep>(timelineStatement(resourceIds, limit));
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
        select id as "deliveryId", created_at as at, null::uuid as "attemptId", null::int as number,
          null::int as "durationMs", null::text as outcome, null::int as status, null::text as error,
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
        order by at, "attemptId" is not null, "deliveryId", "attemptId"
        limit (select ${limit}::int)
      )
      select
        page.*, delivery.resource_id as "resourceId", delivery.endpoint_id as "endpointId", delivery.event,
        delivery.status as "deliveryStatus", ${urlInUse(sql`delivery`)} as url
      from page
      join delivery on delivery.id = page."deliveryId"
      order by page.at, page."attemptId" is not null, page."deliveryId", page."attemptId"`,
  );
}
