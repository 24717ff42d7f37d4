import type { EndpointId } from '@pixmesh/kernel/ids';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { EndpointOwner } from '#endpoints/endpoint-row.ts';

/** An application's full state as the gateway announced it; the version tells which of two is the newer one. */
export type ApplicationState = EndpointOwner & {
  active: boolean;
  version: number;
  /** By the gateway's clock. */
  changedAt: string;
};

/**
 * Keeps a state, unless the same or a newer one is kept already; false then. The primary key is the lock, so of two
 * that come at once the newer one stays.
 */
export async function saveApplication(db: Queryable, state: ApplicationState): Promise<boolean> {
  const rows = await db.query(
    named(
      'application_save',
      sql`
        insert into applications (application_id, account_id, active, version, changed_at)
        values (
          ${state.applicationId}, ${state.accountId}, ${state.active}, ${state.version}, ${state.changedAt}
        )
        on conflict (application_id) do update
        set active = excluded.active, version = excluded.version, changed_at = excluded.changed_at
        where applications.version < excluded.version
        returning application_id`,
    ),
  );
  return rows.length === 1;
}

/**
 * Notes on the application's endpoints whether, and since when, it is deactivated. Answers those that may be sent to
 * again because of it: one that is paused by itself stays so. Reads `endpoints_application` or `endpoints_account`; locks the endpoints,
 * whose number has a bound, in the order of their ids.
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
        where application_id = ${state.applicationId}
          and account_id = ${state.accountId}
          and deleted_at is null
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
