import type { AccountId, ApplicationId, EndpointId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';
import { type Explained, explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { genericPlan } from '#test/generic-plan.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';

import { healthStatement, readEndpointHealth, WAITING_COUNT_MAX } from './endpoint-health.sql.ts';
import type { EndpointOwner } from './endpoint-row.ts';
import { listStatement } from './endpoints.sql.ts';

/** Of other applications, beside those of ours. */
const OTHER_ENDPOINTS = 4_000;
const OWN_ENDPOINTS = 100;
/** Waiting in the lane of our endpoint, beside those of others. */
const WAITING = 5_000;
const OTHERS_WAITING = 40_000;

const owner: EndpointOwner = {
  accountId: newId<AccountId>(),
  applicationId: newId<ApplicationId>(),
};
const busy = newId<EndpointId>();
const idle = newId<EndpointId>();

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  await expectIndexed(healthStatement([busy]));
  await fill();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('however many endpoints others have and whatever waits for them', () => {
  test('the list reads those of its application alone', async () => {
    const { scans, rowsRead } = await explain(listStatement(owner));
    expect(scans).not.toContain('Seq Scan');
    expect(rowsRead).toBe(OWN_ENDPOINTS);
    await expectIndexed(listStatement(owner));
  });

  test('the health of some reads of each what it needs, and of what waits no more than the bound', async () => {
    const { scans, rowsRead } = await explain(healthStatement([busy, idle]));
    expect(scans).not.toContain('Seq Scan');
    // The bound, the oldest of each rank, the lane and the health.
    expect(rowsRead).toBeLessThanOrEqual(WAITING_COUNT_MAX + 10);
    await expectIndexed(healthStatement([busy, idle]));
  });
});

describe('the health of an endpoint', () => {
  test('shows counts, the last outcomes, the breaker, and what waits up to a bound', async () => {
    const [first, second] = await readEndpointHealth(database.db, [busy, idle]);
    expect(first).toEqual({
      endpointId: busy,
      succeededCount: 7n,
      failedCount: 9n,
      lastSuccessAt: new Date('2026-11-21T10:00:00.000Z'),
      lastFailureAt: new Date('2026-11-21T12:00:00.000Z'),
      failingSince: new Date('2026-11-21T11:00:00.000Z'),
      isBreakerOpen: true,
      waitingCount: WAITING_COUNT_MAX,
      oldestDueAt: new Date('2026-11-21T00:00:01.000Z'),
    });
    expect(second).toEqual({
      endpointId: idle,
      succeededCount: 0n,
      failedCount: 0n,
      lastSuccessAt: null,
      lastFailureAt: null,
      failingSince: null,
      isBreakerOpen: false,
      waitingCount: 0,
      oldestDueAt: null,
    });
  });

  test('comes in the order that was asked for', async () => {
    const asked = [idle, busy, newId<EndpointId>()];
    const health = await readEndpointHealth(database.db, asked);
    expect(health.map(({ endpointId }) => endpointId)).toEqual(asked);
  });
});

async function explain(statement: Statement): Promise<Explained> {
  const { name: _name, ...unnamed } = statement;
  return await explainStatement(database.db, unnamed);
}

async function expectIndexed(statement: Statement): Promise<void> {
  expect((await genericPlan(database.db, statement)).scans).toEqual([]);
}

async function fill(): Promise<void> {
  for (const id of [busy, idle]) await storeEndpoint(database.db, { id });
  await database.db.query(
    named(
      'fill_endpoints',
      sql`
        insert into endpoints (id, account_id, application_id, url, description, events)
        select gen_random_uuid(), account_id, application_id, 'https://a.example.com/', '', '{charge.pix.paid}'
        from (
          select gen_random_uuid() as account_id, gen_random_uuid() as application_id
          from generate_series(1, ${OTHER_ENDPOINTS}::int)
          union all
          select ${owner.accountId}::uuid, ${owner.applicationId}::uuid
          from generate_series(1, ${OWN_ENDPOINTS}::int)
        ) as made`,
    ),
  );
  await database.db.query(
    named(
      'fill_queue',
      sql`
        insert into queue (id, delivery_id, event_id, lane_id, for_resource_url, rank, due_at)
        select id, id, id, case when place <= ${WAITING}::int then ${busy}::uuid else gen_random_uuid() end, false,
          place % 3, '2026-11-21T00:00:00Z'::timestamptz + place * interval '1 second'
        from (
          select gen_random_uuid() as id, place from generate_series(1, ${WAITING + OTHERS_WAITING}::int) as place
        ) as made`,
    ),
  );
  await database.db.query(sql`
    insert into endpoint_health (
      endpoint_id, succeeded_count, failed_count, last_success_at, last_failure_at, failing_since
    )
    select gen_random_uuid(), 1, 0, now(), null::timestamptz, null::timestamptz from generate_series(1, 4000)
    union all
    select ${busy}, 7, 9, '2026-11-21T10:00:00Z', '2026-11-21T12:00:00Z', '2026-11-21T11:00:00Z'`);
  await database.db.query(
    sql`insert into lanes (id) select gen_random_uuid() from generate_series(1, 4000)`,
  );
  await database.db.query(sql`
    update lanes set failure_count = 10, probe_at = now() + interval '1 second' where id = ${busy}`);
  // Statistics belong to the tables' owner.
  const admin = createPool({ url: database.adminUrl, applicationName: 'plans', max: 1 });
  await admin.query(sql`
    analyze webhook_dispatcher.endpoints, webhook_dispatcher.queue, webhook_dispatcher.lanes,
      webhook_dispatcher.endpoint_health`);
  await admin[Symbol.asyncDispose]();
}
