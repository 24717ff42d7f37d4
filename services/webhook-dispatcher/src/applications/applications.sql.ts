import type { EndpointId } from '@pixmesh/kernel/ids';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { EndpointOwner } from '#endpoints/endpoint-row.ts';
import { isOwnedBy } from '#endpoints/endpoints.sql.ts';

/** An application's full state as the gateway announced it; of two the one with the higher version is the newer one. */
export type ApplicationState = EndpointOwner & {
  active: boolean;
  version: number;
  /** By the gateway's clock. */
  changedAt: string;
};

/**
 * Stores a state, unless the same or a newer one is stored already; false then. The primary key is the lock, so of two
 * that come at once the newer one stays. A reactivation records since when events may have been skipped before it was
 * consumed, and extends such a record that is still open.
 */
export async function storeApplication(db: Queryable, state: ApplicationState): Promise<boolean> {
  const rows = await db.query(
    named(
      'application_save',
      sql`
        insert into applications (application_id, account_id, active, version, changed_at)
        values (
          ${state.applicationId}, ${state.accountId}, ${state.active}, ${state.version}, ${state.changedAt}
        )
        on conflict (application_id) do update
        set active = excluded.active,
            version = excluded.version,
            changed_at = excluded.changed_at,
            missed_since = case
              when excluded.active and not applications.active
                then least(applications.missed_since, excluded.changed_at)
              else applications.missed_since
            end
        where applications.version < excluded.version
        returning application_id`,
    ),
  );
  return rows.length === 1;
}

/**
 * The application's endpoints that are not deleted, whose number has a bound. Reads `endpoints_application` or
 * `endpoints_account`; complete under `lockCreations`.
 */
export async function findEndpointIds(db: Queryable, owner: EndpointOwner): Promise<EndpointId[]> {
  const rows = await db.query<{ id: EndpointId }>(endpointIdsStatement(owner));
  return rows.map(({ id }) => id);
}

export function endpointIdsStatement(owner: EndpointOwner): Statement {
  return named(
    'endpoints_ids',
    sql`select id from endpoints where ${isOwnedBy(owner)} order by id`,
  );
}

/**
 * Notes on the application's endpoints whether, and since when, it is deactivated. Answers those that may be sent to
 * again because of it: one that is paused by itself stays so. Reads `endpoints_application` or `endpoints_account`;
 * locks the endpoints in the order of their ids. To be called under `lockLanesToChange`.
 */
export async function markEndpoints(
  tx: Transaction,
  state: ApplicationState,
): Promise<EndpointId[]> {
  const rows = await tx.query<{ id: EndpointId; is_resumed: boolean }>(markStatement(state));
  return rows.flatMap(({ id, is_resumed }) => (is_resumed ? [id] : []));
}

export function markStatement(state: ApplicationState): Statement {
  const inactiveSince = state.active ? null : state.changedAt;
  return named(
    'endpoints_mark_application',
    sql`
      with found as (
        select id as found_id
        from endpoints
        where ${isOwnedBy(state)}
        order by id
        for no key update
      )
      update endpoints
      set application_inactive_since = ${inactiveSince}::timestamptz
      from found
      where id = found_id
        and application_inactive_since is distinct from ${inactiveSince}::timestamptz
      returning id, active and application_inactive_since is null as is_resumed`,
  );
}

/** Since when events may have been skipped wrongly; null when there is nothing of the kind. Primary key read. */
export async function findMissedSince(db: Queryable, owner: EndpointOwner): Promise<Date | null> {
  const rows = await db.query<{ missed_since: Date }>(
    named(
      'application_missed_since',
      sql`
        select missed_since
        from applications
        where application_id = ${owner.applicationId} and active and missed_since is not null`,
    ),
  );
  return rows[0]?.missed_since ?? null;
}

/** Notes that it is put right, unless something newer was noted meanwhile. */
export async function clearMissedSince(
  db: Queryable,
  owner: EndpointOwner,
  since: Date,
): Promise<void> {
  await db.query(
    named(
      'application_missed_none',
      sql`
        update applications
        set missed_since = null
        where application_id = ${owner.applicationId} and active and missed_since = ${since}`,
    ),
  );
}

/** Those of which an older state is stored than this, or none. Primary key reads. */
export async function findApplicationsBehind(
  db: Queryable,
  applications: readonly { application_id: string; version: number }[],
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    named(
      'applications_behind',
      sql`
        select asked.id
        from unnest(
          ${applications.map(({ application_id: id }) => id)}::uuid[],
          ${applications.map(({ version }) => version)}::int[]
        ) as asked (id, version)
        left join applications on application_id = asked.id
        where applications.version is null or applications.version < asked.version`,
    ),
  );
  return rows.map((row) => row.id);
}
