import { newId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import { HOOK_URL } from './a-resource-envelope.ts';

type BacklogOptions = {
  laneId: string;
  count: number;
  /** From now; negative for what is due already. */
  dueInMs?: number;
  rank?: 0 | 1 | 2;
  url?: string;
  /** Where the lane is an endpoint's. */
  endpointId?: string | null;
  /** Each lane is an account's own where none is named. */
  accountId?: string;
};

/**
 * Deliveries that wait in one lane, as intake leaves them, each of an event and a resource of its own. Answers the ids.
 * The lane is awake.
 */
export async function aBacklog(db: Queryable, options: BacklogOptions): Promise<string[]> {
  const { laneId, count, dueInMs = -1_000, rank = 0, url = HOOK_URL, endpointId = null } = options;
  const { accountId = laneId } = options;
  const ids = Array.from({ length: count }, () => newId());
  await db.query(sql`
    with new as (
      select id, ordinality::int as place from unnest(${ids}::uuid[]) with ordinality as new (id, ordinality)
    ),
    event as (
      insert into events
        (event_id, type, account_id, resource_id, source, sequence, occurred_at, body_rest)
      select id, 'charge.pix.created', ${accountId}, id, 'api', 1, now(), convert_to(',"object":"event"}', 'utf8')
      from new
    ),
    destination as (
      insert into destinations (resource_id, account_id, url)
      select id, ${accountId}, ${url} from new
    ),
    delivery as (
      insert into deliveries
        (id, event_id, destination_id, endpoint_id, account_id, resource_id, event, lane_id)
      select id, id, id, ${endpointId}::uuid, ${accountId}, id, 'charge.pix.created', ${laneId}
      from new
    ),
    lane as (
      insert into lanes (id, account_id, claimable_at)
      values (${laneId}, ${accountId}, now() + ${dueInMs}::float8 * interval '1 millisecond')
      on conflict (id) do update
      set claimable_at = least(lanes.claimable_at, excluded.claimable_at)
      where not lanes.leased
    )
    insert into queue (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url, rank, attempt_count, due_at)
    select
      id, id, id, ${laneId}, ${endpointId}::uuid, false, ${rank}::smallint, case ${rank}::int when 1 then 1 else 0 end,
      now() + (${dueInMs}::float8 + place * 0.001) * interval '1 millisecond'
    from new`);
  return ids;
}
