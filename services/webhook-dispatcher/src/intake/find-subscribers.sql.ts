import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import {
  mayHaveBeenRegisteredAt,
  wasActiveAt,
  wasRegisteredAt,
} from '#endpoints/was-active-at.sql.ts';
import { isDisabled } from '#lanes/disabled-endpoint.sql.ts';

import type { SubscribedEndpoint } from './choose-deliveries.ts';

/** Whose endpoints may receive events of one type. */
export type Audience = {
  accountId: string;
  /** Null for a resource that was not made by an application: then all of the account receive it (decision 178). */
  applicationId: string | null;
  type: string;
};

/**
 * The endpoints that subscribe, of each audience in its order, also those that are paused or whose application is
 * deactivated. An application has at most 100 endpoints (decision 162), which bounds the answer. Reads
 * `endpoints_application` or `endpoints_account`; locks nothing.
 */
export async function findSubscribers(
  db: Queryable,
  audiences: readonly Audience[],
): Promise<string[][]> {
  const rows = await db.query<{ place: number; id: string }>(subscribersStatement(audiences));
  const found = audiences.map((): string[] => []);
  for (const { place, id } of rows) found[place - 1]?.push(id);
  return found;
}

export function subscribersStatement(audiences: readonly Audience[]): Statement {
  return named(
    'endpoints_of_audiences',
    sql`
      select audience.place::int, endpoint.id
      from unnest(
        ${audiences.map((audience) => audience.accountId)}::uuid[],
        ${audiences.map((audience) => audience.applicationId)}::uuid[],
        ${audiences.map((audience) => audience.type)}::text[]
      ) with ordinality as audience (account_id, application_id, type, place)
      cross join lateral (${subscribersOf(sql`id`)}) as endpoint
      order by audience.place, endpoint.id`,
  );
}

/** The endpoints that subscribe for the row `audience`. */
function subscribersOf(columns: Statement): Statement {
  const subscribes = sql`account_id = audience.account_id and deleted_at is null and audience.type = any (events)`;
  return sql`
    select ${columns}
    from endpoints
    where application_id = audience.application_id and ${subscribes}
    union all
    select ${columns}
    from endpoints
    where audience.application_id is null and ${subscribes}`;
}

/** An endpoint that subscribes, as it was read, and which version of its row that was. */
export type SeenEndpoint = SubscribedEndpoint & { version: string };

/**
 * The same and how each endpoint stood when the event happened, of each event in its order; for few events, since an
 * endpoint is answered for each of them. Where only the difference of clocks says that it may have been registered by
 * then, it counts as inactive, and so does one that was registered later. Locks nothing: what is decided on it has to
 * be confirmed by the versions.
 */
export async function findSubscribersOfEvents(
  db: Queryable,
  events: readonly (Audience & { occurredAt: string })[],
): Promise<SeenEndpoint[][]> {
  const rows = await db.query<SeenEndpoint & { place: number }>(
    subscribersOfEventsStatement(events),
  );
  const found = events.map((): SeenEndpoint[] => []);
  for (const { place, ...endpoint } of rows) found[place - 1]?.push(endpoint);
  return found;
}

export function subscribersOfEventsStatement(
  events: readonly (Audience & { occurredAt: string })[],
): Statement {
  const occurredAt = sql`audience.occurred_at`;
  const type = sql`audience.type`;
  return named(
    'endpoints_of_events',
    sql`
      select
        audience.place::int, endpoints.id, endpoints.url, endpoints.sealed_secret as "sealedSecret",
        ${isDisabled} as "isDisabledNow",
        ${wasActiveAt(occurredAt)} and ${wasRegisteredAt(occurredAt, type)} as "wasActive",
        endpoints.version
      from unnest(
        ${events.map((event) => event.accountId)}::uuid[],
        ${events.map((event) => event.applicationId)}::uuid[],
        ${events.map((event) => event.type)}::text[],
        ${events.map((event) => event.occurredAt)}::timestamptz[]
      ) with ordinality as audience (account_id, application_id, type, occurred_at, place)
      cross join lateral (${subscribersOf(sql`*, xmin::text as version`)}) as endpoints
      order by audience.place, endpoints.id`,
  );
}

/** An event, by its place in its batch, and an endpoint that may receive it. */
export type Subscription = { place: number; occurredAt: string; type: string; endpointId: string };

/**
 * How endpoints stood when events happened: those that may have been registered for them by then (decision 237) and are
 * not deleted now. Where only the difference of clocks says so, an endpoint counts as inactive. To be read behind
 * `lockLanesToQueue`: an endpoint is paused, resumed or deleted under the lock of its lane, so what is read here stays
 * true until the deliveries that follow from it are committed. Reads primary keys.
 */
export async function loadSubscriptions(
  tx: Queryable,
  subscriptions: readonly Subscription[],
): Promise<(SubscribedEndpoint & { place: number })[]> {
  return await tx.query<SubscribedEndpoint & { place: number }>(
    subscriptionsStatement(subscriptions),
  );
}

export function subscriptionsStatement(subscriptions: readonly Subscription[]): Statement {
  const occurredAt = sql`subscription.occurred_at`;
  const type = sql`subscription.type`;
  return named(
    'endpoints_when_events_happened',
    sql`
      with endpoints as materialized (
        select *
        from endpoints
        where id = any (${[...new Set(subscriptions.map(({ endpointId }) => endpointId))]}::uuid[])
          and deleted_at is null
      )
      select
        subscription.place, endpoints.id, endpoints.url, endpoints.sealed_secret as "sealedSecret",
        ${isDisabled} as "isDisabledNow",
        ${wasActiveAt(occurredAt)} and ${wasRegisteredAt(occurredAt, type)} as "wasActive"
      from unnest(
        ${subscriptions.map(({ place }) => place)}::int[],
        ${subscriptions.map((subscription) => subscription.occurredAt)}::timestamptz[],
        ${subscriptions.map(({ type }) => type)}::text[],
        ${subscriptions.map(({ endpointId }) => endpointId)}::uuid[]
      ) as subscription (place, occurred_at, type, endpoint_id)
      join endpoints on endpoints.id = subscription.endpoint_id
      where ${mayHaveBeenRegisteredAt(occurredAt, type)}
      order by subscription.place, endpoints.id`,
  );
}
