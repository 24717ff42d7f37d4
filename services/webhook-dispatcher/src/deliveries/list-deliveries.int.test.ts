import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { aChargeEvent } from '#testing/a-charge-event.ts';
import { genericPlan } from '#testing/generic-plan.ts';
import { readDeliveries } from '#testing/read-deliveries.ts';
import { storeEndpoint } from '#testing/store-endpoint.ts';
import { take } from '#testing/take-event.ts';

import { listDeliveries, listDeliveriesStatement } from './list-deliveries.sql.ts';

const OWN = 'http://own.receiver.example.com/hook';
const ELSEWHERE = 'http://elsewhere.receiver.example.com/hook';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

/** An event for its resource's own URL, an endpoint elsewhere and one that is paused. */
async function anEvent() {
  const owner = aChargeEvent();
  const application = { accountId: owner.account_id!, applicationId: owner.application_id! };
  const endpoint = await storeEndpoint(database.db, { ...application, url: ELSEWHERE } as never);
  const event = aChargeEvent({
    account_id: owner.account_id,
    application_id: owner.application_id,
    url: OWN,
  });
  await take(database.db, event);
  return { event, endpoint };
}

async function attempt(deliveryId: string, changes: { id?: string; at: string; outcome?: string }) {
  await database.db.query(sql`
    insert into attempts (delivery_id, id, started_at, duration_ms, outcome)
    values (
      ${deliveryId}, ${changes.id ?? newId()}, ${changes.at}, 1, ${changes.outcome ?? 'failed'}
    )`);
}

describe('the deliveries of a resource', () => {
  test('name the URL that is in use, and when the next attempt of the schedule is', async () => {
    const { event, endpoint } = await anEvent();
    const deliveries = await readDeliveries(database.db, event.data.id);
    expect(deliveries.map(({ url, endpointId }) => [url, endpointId])).toEqual(
      expect.arrayContaining([
        [OWN, null],
        [ELSEWHERE, endpoint.id],
      ]) as unknown,
    );
    const [first, second] = deliveries;
    const dueAt = new Date('2026-11-30T10:00:00.000Z');
    await database.db.query(sql`update queue set due_at = ${dueAt} where id = ${first!.id}`);
    // A re-send is no part of the schedule, and what is over has none.
    await database.db.query(sql`
      insert into queue (id, delivery_id, event_id, lane_id, for_resource_url, is_resend)
      values (${newId()}, ${second!.id}, ${event.event_id}, ${newId()}, false, true)`);
    await database.db.query(sql`delete from queue where id = ${second!.id}`);
    const later = await readDeliveries(database.db, event.data.id);
    expect(later.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([dueAt, null]);
  });

  test('have their attempts numbered in the order in which they began', async () => {
    const { event } = await anEvent();
    const [delivery] = await readDeliveries(database.db, event.data.id);
    const [one, other] = [newId(), newId()].toSorted();
    await attempt(delivery!.id, { at: '2026-11-21T12:01:00.000Z', id: other! });
    await attempt(delivery!.id, { at: '2026-11-21T12:01:00.000Z', id: one!, outcome: 'succeeded' });
    await attempt(delivery!.id, { at: '2026-11-21T12:00:00.000Z' });
    const [read] = await readDeliveries(database.db, event.data.id);
    expect(
      read?.attempts.map(({ number, outcome, startedAt }) => [number, outcome, startedAt]),
    ).toEqual([
      [1, 'failed', new Date('2026-11-21T12:00:00.000Z')],
      [2, 'succeeded', new Date('2026-11-21T12:01:00.000Z')],
      [3, 'failed', new Date('2026-11-21T12:01:00.000Z')],
    ]);
  });

  test('come in pages, newest first, and to their own account alone', async () => {
    const { event } = await anEvent();
    const page = { resourceId: event.data.id, accountId: event.account_id, limit: 1 };
    const [first] = await listDeliveries(database.db, { ...page, startingAfter: null });
    const [second] = await listDeliveries(database.db, { ...page, startingAfter: first!.id });
    expect([first!.id, second!.id]).toEqual([first!.id, second!.id].toSorted().toReversed());
    expect(await listDeliveries(database.db, { ...page, startingAfter: second!.id })).toEqual([]);
    const strangers = { ...page, accountId: newId(), startingAfter: null };
    expect(await listDeliveries(database.db, strangers)).toEqual([]);
  });
});

test('the list costs the same however much history and how many partitions there are', async () => {
  await using many = await createTestDatabase('webhook_dispatcher');
  // Weeks to come are partitions as good as weeks gone by.
  await many.db.query(sql`
    insert into deliveries (id, event_id, destination_id, account_id, resource_id, event, lane_id, status)
    select
      overlay(uuid_v7_floor(now() + number % 8 * interval '1 week')::text placing lpad(to_hex(number), 12, '0') from 25)::uuid,
      gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'charge.pix.paid',
      gen_random_uuid(), 'succeeded'
    from generate_series(1, 20000) as number`);
  await many.db.query(sql`
    insert into attempts (delivery_id, id, started_at, duration_ms, outcome)
    select id, gen_random_uuid(), now(), 1, 'failed' from deliveries, generate_series(1, 3)`);
  await using superuser = createPool({ url: many.adminUrl, applicationName: 'test' });
  await superuser.query(sql`analyze`);
  const [row] = await many.db.query<{ resource_id: string }>(
    sql`select resource_id from deliveries limit 1`,
  );
  const statement = listDeliveriesStatement({
    resourceId: row!.resource_id,
    accountId: null,
    limit: 21,
    startingAfter: null,
  });
  const explained = await explainStatement(many.db, statement);
  expect(explained.pagesRead).toBeLessThan(100);
  // Of 80,000 rows: the delivery and its attempts.
  expect(explained.rowsRead).toBeLessThan(20);
  await using empty = await createTestDatabase('webhook_dispatcher');
  expect((await genericPlan(empty.db, statement)).scans).toEqual([]);
});
