import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import type { TestDatabase } from '@pixmesh/testkit/test-database';

import { deliveryIdOf } from '#deliveries/delivery-id-of.ts';

import { idAt } from './queued-deliveries.ts';

/** A delivery of the log. */
export type LoggedDelivery = {
  id: string;
  eventId: string;
  atMs: number;
  accountId: string;
  resourceId: string;
  endpointId: string | null;
  event: string;
  status: 'pending' | 'succeeded' | 'failed' | 'skipped' | 'canceled';
};

/** The id follows from the time and the endpoint, as intake makes it. */
export function aLogged(given: Omit<LoggedDelivery, 'id' | 'eventId'>): LoggedDelivery {
  const eventId = idAt(given.atMs);
  return { ...given, eventId, id: deliveryIdOf(eventId, given.endpointId ?? given.resourceId) };
}

/** A statement for all of a long run would take longer than a statement may. */
const ROWS_AT_ONCE = 20_000;

/** Stores deliveries without their events; those that are pending wait in the queue. */
export async function storeLogged(
  { db, adminUrl }: TestDatabase,
  rows: readonly LoggedDelivery[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    await storeRows(db, rows.slice(start, start + ROWS_AT_ONCE));
  }
  // Statistics belong to the tables' owner.
  await using admin = createPool({ url: adminUrl, applicationName: 'plans', max: 1 });
  await admin.query(sql`
    analyze webhook_dispatcher.deliveries, webhook_dispatcher.attempts, webhook_dispatcher.queue,
      webhook_dispatcher.destinations`);
}

async function storeRows(db: Database, rows: readonly LoggedDelivery[]): Promise<void> {
  await db.query(sql`
    with made as (
      select * from unnest(
        ${rows.map(({ id }) => id)}::uuid[],
        ${rows.map(({ eventId }) => eventId)}::uuid[],
        ${rows.map(({ accountId }) => accountId)}::uuid[],
        ${rows.map(({ resourceId }) => resourceId)}::uuid[],
        ${rows.map(({ endpointId }) => endpointId)}::uuid[],
        ${rows.map(({ event }) => event)}::text[],
        ${rows.map(({ status }) => status)}::text[]
      ) as made (id, event_id, account_id, resource_id, endpoint_id, event, status)
    ),
    url as (
      insert into destinations (resource_id, account_id, url)
      select distinct on (resource_id) resource_id, account_id, 'https://own.example.com/hook'
      from made
      where endpoint_id is null
      on conflict (resource_id) do nothing
    ),
    waiting as (
      insert into queue (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url)
      select id, id, event_id, coalesce(endpoint_id, account_id), endpoint_id, false
      from made
      where status = 'pending'
    )
    insert into deliveries (
      id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id, status
    )
    select
      id, event_id, coalesce(endpoint_id, resource_id), account_id, resource_id, event,
      coalesce(endpoint_id, account_id), endpoint_id, status
    from made`);
  await db.query(sql`
    insert into attempts (delivery_id, id, started_at, duration_ms, outcome, status, response_excerpt)
    select delivery_id, gen_random_uuid(), now() + n * interval '1 second', 5, outcome, 200, 'ok'
    from unnest(
        ${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ status }) => status)}::text[]
      ) as made (delivery_id, status)
    cross join lateral (
      values (1, case when status = 'succeeded' then 'succeeded' else 'failed' end)
    ) as attempt (n, outcome)
    where status <> 'skipped'`);
}
