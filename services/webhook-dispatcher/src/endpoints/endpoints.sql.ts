import type { AccountId, EndpointId } from '@pixmesh/kernel/ids';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { EndpointOwner, EndpointRow } from './endpoint-row.ts';

/** Columns of every statement that answers endpoints. */
const COLUMNS = sql`id, url, description, events, active, sealed_secret is not null as "hasSecret",
        secret_changed_at as "secretChangedAt", created_at as "createdAt"`;

export type NewEndpoint = {
  id: EndpointId;
  url: string;
  description: string;
  events: readonly string[];
  sealedSecret: string | null;
};

/** What is absent stays as it is; a sealed secret of null removes the secret. */
export type EndpointChanges = {
  url?: string | undefined;
  description?: string | undefined;
  events?: readonly string[] | undefined;
  active?: boolean | undefined;
  sealedSecret?: string | null | undefined;
};

/** All endpoints of an application, newest first; their number has a bound. Reads `endpoints_application`. */
export async function listEndpoints(db: Queryable, owner: EndpointOwner): Promise<EndpointRow[]> {
  return await db.query<EndpointRow>(listStatement(owner));
}

export function listStatement(owner: EndpointOwner): Statement {
  return named(
    'endpoints_list',
    sql`
      select ${COLUMNS}
      from endpoints
      where ${isOwnedBy(owner)}
      order by created_at desc, id desc`,
  );
}

/** The endpoint under an id, if the application may see it. Primary key read. */
export async function findEndpoint(
  db: Queryable,
  owner: EndpointOwner,
  id: EndpointId,
): Promise<EndpointRow | null> {
  const rows = await db.query<EndpointRow>(
    named(
      'endpoint_find',
      sql`select ${COLUMNS} from endpoints where id = ${id} and ${isOwnedBy(owner)}`,
    ),
  );
  return rows[0] ?? null;
}

/**
 * Lets one creation of an application pass after the other until the transaction ends, so that a count taken
 * afterwards stays true. An advisory lock, because the application's own row stands in another schema.
 */
export async function lockCreations(tx: Transaction, owner: EndpointOwner): Promise<void> {
  await tx.query(
    named(
      'endpoints_lock_creations',
      sql`select pg_advisory_xact_lock(hashtextextended('endpoints ' || ${owner.applicationId}::text, 0))`,
    ),
  );
}

/** The same for a whole account, where a limit of it is counted. Taken before `lockCreations`. */
export async function lockCreationsOfAccount(tx: Transaction, id: AccountId): Promise<void> {
  await tx.query(
    named(
      'endpoints_lock_creations_of_account',
      sql`select pg_advisory_xact_lock(hashtextextended('endpoints of account ' || ${id}::text, 0))`,
    ),
  );
}

/** Endpoints of all applications of an account, paused ones included. Reads `endpoints_account`. */
export async function countEndpoints(db: Queryable, accountId: AccountId): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    named(
      'endpoints_count',
      sql`
        select count(*)::int as count
        from endpoints
        where account_id = ${accountId} and deleted_at is null`,
    ),
  );
  return row?.count ?? 0;
}

/**
 * Adds an endpoint while there are fewer than `countMax`; null otherwise. It begins in the state of its application.
 * Both are exact only under `lockCreations`.
 */
export async function insertEndpoint(
  tx: Transaction,
  owner: EndpointOwner,
  endpoint: NewEndpoint & { countMax: number },
): Promise<EndpointRow | null> {
  const rows = await tx.query<EndpointRow>(
    named(
      'endpoint_insert',
      sql`
        insert into endpoints (
          id, account_id, application_id, url, description, events, sealed_secret, secret_changed_at,
          application_inactive_since
        )
        select
          ${endpoint.id}::uuid, ${owner.accountId}::uuid, ${owner.applicationId}::uuid, ${endpoint.url}::text,
          ${endpoint.description}::text, ${endpoint.events}::text[], ${endpoint.sealedSecret}::text,
          case when ${endpoint.sealedSecret}::text is not null then now() end,
          (select changed_at from applications where application_id = ${owner.applicationId}::uuid and not active)
        where (select count(*) from endpoints where ${isOwnedBy(owner)}) < ${endpoint.countMax}::int
        returning ${COLUMNS}`,
    ),
  );
  return rows[0] ?? null;
}

/**
 * Changes what is named, each column on its own, so that two changes at once lose nothing of each other; null when the
 * endpoint is gone. To be called under `lockLanesToChange`. A pause is dated when it begins, and so is an event that
 * was not subscribed to before.
 */
export async function updateEndpoint(
  tx: Transaction,
  owner: EndpointOwner,
  { id, ...changes }: EndpointChanges & { id: EndpointId },
): Promise<EndpointRow | null> {
  const rows = await tx.query<EndpointRow>(
    named(
      'endpoint_update',
      sql`
        with found as (
          select id as found_id, active as was_active
          from endpoints
          where id = ${id} and ${isOwnedBy(owner)}
          for no key update
        )
        update endpoints
        set url = coalesce(${changes.url ?? null}::text, url),
            description = coalesce(${changes.description ?? null}::text, description),
            events = coalesce(${changes.events ?? null}::text[], events),
            events_added_at = ${eventsAddedAt(changes.events)},
            active = coalesce(${changes.active ?? null}::boolean, active),
            paused_at = case
              when coalesce(${changes.active ?? null}::boolean, active) then null
              when was_active then date_trunc('milliseconds', now())
              else paused_at
            end,
            sealed_secret = case
              when ${changes.sealedSecret !== undefined}::boolean then ${changes.sealedSecret ?? null}::text
              else sealed_secret
            end,
            secret_changed_at = case
              when ${changes.sealedSecret !== undefined}::boolean then now()
              else secret_changed_at
            end
        from found
        where id = found_id
        returning ${COLUMNS}`,
    ),
  );
  return rows[0] ?? null;
}

/**
 * Deletes an endpoint; its row stays for the history of its deliveries. False when it is gone already. To be called
 * under `lockLanesToChange`.
 */
export async function deleteEndpoint(
  tx: Transaction,
  owner: EndpointOwner,
  id: EndpointId,
): Promise<boolean> {
  const rows = await tx.query(
    named(
      'endpoint_delete',
      sql`
        update endpoints
        set deleted_at = now()
        where id = ${id} and ${isOwnedBy(owner)}
        returning id`,
    ),
  );
  return rows.length === 1;
}

/** When each subscribed event was added; those subscribed to since the registration have no date. */
function eventsAddedAt(events: readonly string[] | undefined): Statement {
  return sql`case
              when ${events ?? null}::text[] is null then events_added_at
              else (
                select coalesce(jsonb_object_agg(subscribed.event, coalesce(events_added_at -> subscribed.event, to_jsonb(now()))), '{}')
                from unnest(${events ?? null}::text[]) as subscribed (event)
                where events_added_at ? subscribed.event or subscribed.event <> all (events)
              )
            end`;
}

/** Condition on a row of `endpoints`: it belongs to the application and is not deleted. */
export function isOwnedBy(owner: EndpointOwner): Statement {
  return sql`account_id = ${owner.accountId} and application_id = ${owner.applicationId} and deleted_at is null`;
}
