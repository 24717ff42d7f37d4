import { EVENT_NAMES } from '@pixmesh/contracts/events/event-catalogue';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { smallestIdOf } from '#deliveries/id-of-instant.ts';
import { isSendable } from '#deliveries/is-sendable.sql.ts';

import type { RecoveryRow } from './recovery-row.ts';

/** A delivery that was read. */
export type Candidate = {
  id: string;
  /** Whether the recovery sends it again, and its destination still exists. */
  isWanted: boolean;
};

/**
 * The next deliveries of the account in the recovery's span of time, oldest first, wanted or not. Each event's are a
 * range of `deliveries_account`, of which no more is read than `limit`; everything else is read by its key.
 */
export async function findCandidates(
  db: Queryable,
  recovery: RecoveryRow,
  limit: number,
): Promise<Candidate[]> {
  return await db.query<Candidate>(candidatesStatement(recovery, limit));
}

export function candidatesStatement(recovery: RecoveryRow, limit: number): Statement {
  const { accountId, applicationId, endpointId, event, statuses } = recovery;
  const start = smallestIdOf(recovery.createdFrom.getTime());
  const after = recovery.position ?? start;
  const until = smallestIdOf(recovery.createdUntil.getTime());
  // Without test deliveries: those have one attempt, however it ends.
  const events = event === null ? EVENT_NAMES : [event];
  return named(
    'recovery_candidates',
    sql`
      with page as materialized (
        select page_of_event.*
        from unnest(${events}::text[]) as slice (event)
        cross join lateral (
          select id, event_id, endpoint_id, for_resource_url, status
          from deliveries
          where event = slice.event
            and (account_id, id) > (${accountId}::uuid, ${after}::uuid)
            and (account_id, id) < (${accountId}::uuid, ${until}::uuid)
            and id > ${after}::uuid
            and id < ${until}::uuid
          order by account_id, id
          limit (select ${limit}::int)
        ) page_of_event
        order by id
        limit (select ${limit}::int)
      )
      select
        id,
        status = any (${statuses}::text[])
          and (${endpointId}::uuid is null or endpoint_id = ${endpointId}::uuid)
          and (${applicationId}::uuid is null or ${applicationId}::uuid = coalesce(
            (select application_id from endpoints where endpoints.id = page.endpoint_id),
            (select application_id from events where events.event_id = page.event_id)
          ))
          and ${isSendable} as "isWanted"
      from page
      order by id`,
  );
}
