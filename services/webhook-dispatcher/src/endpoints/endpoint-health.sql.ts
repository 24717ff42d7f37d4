import type { EndpointId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

/** Beyond it, what waits for one endpoint is "at least". */
export const WAITING_COUNT_MAX = 1_000;

/** How an endpoint does, as operators need it. */
export type EndpointHealth = {
  endpointId: EndpointId;
  succeededCount: bigint;
  failedCount: bigint;
  lastSuccessAt: Date | null;
  lastFailureAt: Date | null;
  /** The first failure since the last success; null while it does well. */
  failingSince: Date | null;
  /** Whether its lane makes one attempt at a time, after many failures in a row. */
  isBreakerOpen: boolean;
  /** What waits for it, due or not, up to `WAITING_COUNT_MAX`. */
  waitingCount: number;
  /** The earliest time that something in its lane is or was due; null when nothing waits. */
  oldestDueAt: Date | null;
};

/**
 * How each of these endpoints does, in their order; one without any attempt yet is all zeros. What stands for the URL
 * of its resource too waits in another lane and counts as attempts alone. Reads by keys, and of the queue up to a bound
 * per endpoint.
 */
export async function readEndpointHealth(
  db: Queryable,
  endpointIds: readonly EndpointId[],
): Promise<EndpointHealth[]> {
  return await db.query<EndpointHealth>(healthStatement(endpointIds));
}

export function healthStatement(endpointIds: readonly EndpointId[]): Statement {
  return named(
    'endpoints_health',
    sql`
      select
        asked.id as "endpointId",
        coalesce(health.succeeded_count, 0) as "succeededCount",
        coalesce(health.failed_count, 0) as "failedCount",
        health.last_success_at as "lastSuccessAt", health.last_failure_at as "lastFailureAt",
        health.failing_since as "failingSince",
        coalesce(lane.is_breaker_open, false) as "isBreakerOpen",
        waiting.count as "waitingCount",
        oldest.due_at as "oldestDueAt"
      from unnest(${endpointIds}::uuid[]) with ordinality as asked (id, place)
      left join lateral (
        select * from endpoint_health where endpoint_health.endpoint_id = asked.id offset 0
      ) health on true
      left join lateral (
        select probe_at is not null as is_breaker_open from lanes where lanes.id = asked.id offset 0
      ) lane on true
      cross join lateral (
        select count(*)::int as count
        from (select from queue where queue.lane_id = asked.id order by rank limit ${WAITING_COUNT_MAX}) as bounded
      ) waiting
      cross join lateral (
        select min(first.due_at) as due_at
        from generate_series(0, 2) as rank
        cross join lateral (
          select due_at
          from queue
          where queue.lane_id = asked.id and queue.rank = rank.rank
          order by due_at
          limit 1
        ) first
      ) oldest
      order by asked.place`,
  );
}
