import type { AccountId, ApplicationId, EndpointId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';
import { type Explained, explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { databaseClock } from '#sending/schedule-clock.ts';
import { withholdStatement } from '#sending/withhold-deliveries.sql.ts';
import { storeEndpoint } from '#testing/store-endpoint.ts';

import type { EndpointOwner } from './endpoint-row.ts';
import { listStatement } from './endpoints.sql.ts';
import { bringForwardStatement, cancelStatement, type Sweep } from './waiting-deliveries.sql.ts';

/** Of other applications, beside those of ours. */
const OTHER_ENDPOINTS = 4_000;
const OWN_ENDPOINTS = 100;
/** Of our endpoint: pending ones, among those that are over. */
const WAITING = 50;
const DELIVERIES = 10_000;

const owner: EndpointOwner = {
  accountId: newId<AccountId>(),
  applicationId: newId<ApplicationId>(),
};
const endpointId = newId<EndpointId>();
const sweep: Sweep = { owner, endpointId, after: null, limit: 1_000 };

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  await fill();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('however many endpoints and deliveries others have', () => {
  test('the list reads those of its application alone', async () => {
    const { scans, rowsRead } = await explain(listStatement(owner));
    expect(scans).not.toContain('Seq Scan');
    expect(rowsRead).toBe(OWN_ENDPOINTS);
  });

  test.each([
    { name: 'putting off', statement: withholdStatement(databaseClock, [endpointId]) },
    { name: 'resuming', statement: bringForwardStatement(sweep) },
    // Last, because it ends them.
    { name: 'deleting', statement: cancelStatement(sweep) },
  ])('$name reads nothing but what waits for the endpoint', async ({ statement }) => {
    const { scans, rowsRead } = await explain(statement);
    expect(scans).not.toContain('Seq Scan');
    // What the index gave, the same rows once more to be updated, and the endpoint.
    expect(rowsRead).toBeGreaterThanOrEqual(2 * WAITING);
    expect(rowsRead).toBeLessThanOrEqual(2 * WAITING + 1);
  });
});

async function explain(statement: Statement): Promise<Explained> {
  const { name: _name, ...unnamed } = statement;
  return await explainStatement(database.db, unnamed);
}

async function fill(): Promise<void> {
  await storeEndpoint(database.db, { id: endpointId, active: false });
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
      'fill_deliveries',
      sql`
        insert into deliveries (
          id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id, status, next_attempt_at
        )
        select
          gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), ${owner.accountId}::uuid, gen_random_uuid(),
          'charge.pix.paid', gen_random_uuid(),
          case when place % 10 = 0 then ${endpointId}::uuid else gen_random_uuid() end,
          case when place % 10 <> 0 or place <= ${10 * WAITING}::int then 'pending' else 'succeeded' end,
          case when place % 10 <> 0 or place <= ${10 * WAITING}::int then now() end
        from generate_series(1, ${DELIVERIES}::int) as place`,
    ),
  );
  // Statistics belong to the tables' owner.
  const admin = createPool({ url: database.adminUrl, applicationName: 'plans', max: 1 });
  await admin.query(sql`analyze webhook_dispatcher.endpoints, webhook_dispatcher.deliveries`);
  await admin[Symbol.asyncDispose]();
}
