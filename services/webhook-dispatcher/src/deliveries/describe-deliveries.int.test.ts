import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { aChargeEvent } from '#test/a-charge-event.ts';
import { genericPlan } from '#test/generic-plan.ts';
import { readDeliveries } from '#test/listed-deliveries.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';
import { take } from '#test/store-event.ts';

import { findDelivery, listLog, logStatement } from './delivery-log.sql.ts';
import { ATTEMPTS_SHOWN_MAX, EXCERPTS_SHOWN_MAX } from './describe-deliveries.sql.ts';

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
    const filters = { resourceId: event.data.id, accountId: event.account_id! };
    const pageAfter = (startingAfter: string | null) =>
      listLog(database.db, filters, { limit: 1, startingAfter });
    const [first] = await pageAfter(null);
    const [second] = await pageAfter(first!.id);
    expect([first!.id, second!.id]).toEqual([first!.id, second!.id].toSorted().toReversed());
    expect(await pageAfter(second!.id)).toEqual([]);
    const strangers = { ...filters, accountId: newId() };
    expect(await listLog(database.db, strangers, { limit: 1, startingAfter: null })).toEqual([]);
  });
});

describe('what an answer holds has a bound', () => {
  const EXCERPT_MAX = 'x'.repeat(16_384);

  async function attempts(deliveryId: string, count: number, excerpt: string): Promise<void> {
    await database.db.query(sql`
      insert into attempts (delivery_id, id, started_at, duration_ms, outcome, response_excerpt)
      select ${deliveryId}, gen_random_uuid(), now() + number * interval '1 second', 1, 'failed', ${excerpt}
      from generate_series(1, ${count}::int) as number`);
  }

  test('of a delivery: its newest attempts under their own numbers, the newest with their answers', async () => {
    const { event } = await anEvent();
    const [delivery] = await readDeliveries(database.db, event.data.id);
    const made = ATTEMPTS_SHOWN_MAX + 5;
    await attempts(delivery!.id, made, EXCERPT_MAX);
    const shown = (await findDelivery(database.db, delivery!.id))!.attempts;
    expect(shown).toHaveLength(ATTEMPTS_SHOWN_MAX);
    expect([shown[0]!.number, shown.at(-1)!.number]).toEqual([6, made]);
    const withAnswer = shown.filter(({ responseExcerpt }) => responseExcerpt === EXCERPT_MAX);
    expect(withAnswer.map(({ number }) => number)).toEqual(
      Array.from(
        { length: EXCERPTS_SHOWN_MAX },
        (_, index) => made - EXCERPTS_SHOWN_MAX + 1 + index,
      ),
    );
  });

  test('of a page: it ends behind the delivery that fills it, however an answer is written in JSON', async () => {
    // Each character takes six bytes in JSON: 32 of these are 3 MiB.
    const excerpt = '\u0001'.repeat(16_384);
    const account = newId();
    const resource = newId();
    for (let count = 0; count < 4; count += 1) {
      const id = newId();
      await database.db.query(sql`
        insert into deliveries (id, event_id, destination_id, account_id, resource_id, event, lane_id, status, for_resource_url)
        values (${id}, ${newId()}, ${resource}, ${account}, ${resource}, 'charge.pix.paid', ${resource}, 'failed', true)`);
      await attempts(id, EXCERPTS_SHOWN_MAX, excerpt);
    }
    const page = await listLog(
      database.db,
      { resourceId: resource },
      { limit: 5, startingAfter: null },
    );
    expect(page.map(({ fits }) => fits)).toEqual([true, true, false, false]);
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
  const page = { limit: 21, startingAfter: null };
  const statement = logStatement({ resourceId: row!.resource_id }, page);
  const explained = await explainStatement(many.db, statement);
  expect(explained.pagesRead).toBeLessThan(100);
  // Of 80,000 rows: the delivery and its attempts.
  expect(explained.rowsRead).toBeLessThan(20);
  await using empty = await createTestDatabase('webhook_dispatcher');
  expect((await genericPlan(empty.db, statement)).scans).toEqual([]);
});
