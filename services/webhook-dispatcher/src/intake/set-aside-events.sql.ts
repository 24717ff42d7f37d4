import type { AccountId } from '@pixmesh/kernel/ids';
import { accountsInTurn } from '@pixmesh/postgres/accounts-in-turn';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { AssembledEvent } from './read-event.ts';
import { startsOf } from './starts-of.ts';

/**
 * Stores events that are fanned out later, with the destinations of their resources, whose secrets then have one place.
 * What is there already is left as it is. Rows are inserted in the order of their keys.
 */
export async function setEventsAside(
  db: Queryable,
  events: readonly AssembledEvent[],
): Promise<void> {
  const own = events.flatMap(({ own, ...event }) => (own === null ? [] : [{ ...event, ...own }]));
  const lengths = events.map(({ bodyRest }) => bodyRest.length);
  await db.query(
    named(
      'events_set_aside',
      sql`
        with destination as (
          insert into destinations (resource_id, account_id, url, sealed_secret)
          select distinct on (resource_id) resource_id, account_id, url, sealed_secret
          from unnest(
            ${own.map(({ resourceId }) => resourceId)}::uuid[],
            ${own.map(({ accountId }) => accountId)}::uuid[],
            ${own.map(({ url }) => url)}::text[],
            ${own.map(({ sealedSecret }) => sealedSecret)}::text[],
            ${own.map(({ sequence }) => sequence)}::integer[]
          ) as named (resource_id, account_id, url, sealed_secret, sequence)
          order by resource_id, sequence
          on conflict (resource_id) do nothing
        )
        insert into set_aside_events (
          account_id, event_id, application_id, type, resource_id, source, sequence, occurred_at, traceparent,
          has_own_url, body_rest
        )
        select
          account_id, event_id, application_id, type, resource_id, source, sequence, occurred_at, traceparent,
          has_own_url,
          substring(${Buffer.concat(events.map(({ bodyRest }) => bodyRest))}::bytea from body_start for body_length)
        from unnest(
          ${events.map(({ accountId }) => accountId)}::uuid[],
          ${events.map(({ eventId }) => eventId)}::uuid[],
          ${events.map(({ applicationId }) => applicationId)}::uuid[],
          ${events.map(({ type }) => type)}::text[],
          ${events.map(({ resourceId }) => resourceId)}::uuid[],
          ${events.map(({ source }) => source)}::text[],
          ${events.map(({ sequence }) => sequence)}::integer[],
          ${events.map(({ occurredAt }) => occurredAt)}::timestamptz[],
          ${events.map(({ traceparent }) => traceparent)}::text[],
          ${events.map((event) => event.own !== null)}::boolean[],
          ${startsOf(lengths)}::integer[],
          ${lengths}::integer[]
        ) as named (
          account_id, event_id, application_id, type, resource_id, source, sequence, occurred_at, traceparent,
          has_own_url, body_start, body_length
        )
        order by account_id, event_id
        on conflict (account_id, event_id) do nothing`,
    ),
  );
}

/** The account whose turn is next behind `after`; null where nothing is set aside. */
export async function nextAccountBehind(
  db: Queryable,
  after: AccountId,
): Promise<AccountId | null> {
  const accounts = accountsInTurn({
    table: sql`set_aside_events`,
    isWork: sql`true`,
    after,
    limit: 1,
  });
  const rows = await db.query<{ accountId: AccountId }>(
    named(
      'set_aside_next_account',
      sql`with recursive ${accounts} select ring_account as "accountId" from ring where turn = 1`,
    ),
  );
  return rows[0]?.accountId ?? null;
}

/** The oldest of an account, locked; what another process has in hand is passed over. */
export async function takeSetAside(
  tx: Transaction,
  accountId: AccountId,
  limit: number,
): Promise<AssembledEvent[]> {
  const rows = await tx.query<
    Omit<AssembledEvent, 'occurredAt' | 'own'> & {
      occurredAt: Date;
      url: string | null;
      sealedSecret: string | null;
    }
  >(takeStatement(accountId, limit));
  return rows.map(({ occurredAt, url, sealedSecret, ...event }) => ({
    ...event,
    occurredAt: occurredAt.toISOString(),
    own: url === null ? null : { url, sealedSecret },
  }));
}

export function takeStatement(accountId: AccountId, limit: number): Statement {
  return named(
    'set_aside_take',
    sql`
      select
        taken.account_id as "accountId", taken.event_id as "eventId", taken.application_id as "applicationId",
        taken.type, taken.resource_id as "resourceId", taken.source, taken.sequence,
        taken.occurred_at as "occurredAt", taken.traceparent, taken.body_rest as "bodyRest",
        destination.url, destination.sealed_secret as "sealedSecret"
      from (
        select *
        from set_aside_events
        where account_id = ${accountId}
        order by event_id
        limit ${limit}
        for update skip locked
      ) as taken
      left join lateral (
        select url, sealed_secret
        from destinations
        where taken.has_own_url and destinations.resource_id = taken.resource_id
        offset 0
      ) as destination on true
      order by taken.event_id`,
  );
}

export async function removeSetAside(
  tx: Transaction,
  accountId: AccountId,
  eventIds: readonly string[],
): Promise<void> {
  await tx.query(
    named(
      'set_aside_remove',
      sql`
        delete from set_aside_events
        where account_id = ${accountId} and event_id = any (${eventIds}::uuid[])`,
    ),
  );
}
