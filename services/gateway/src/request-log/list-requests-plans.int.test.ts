import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database, type Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { listRequests } from './requests.sql.ts';

const ROWS = 24_000;
/** Rows of one statement: a busy machine has ten seconds for each. */
const BATCH_ROWS = 3_000;
const WEEKS = 3;
/** A page is read through a few pages of an index: far below what reading the table costs. */
const COST_MAX = 400;
/** A partition of a week that has hardly begun is read as a whole: it is one page. */
const SCAN_COST_MAX = 20;

const ACCOUNT = newId();
const APPLICATION = newId();
const KEY = newId();

let database: TestDatabase;
let admin: Database;

beforeAll(async () => {
  database = await createTestDatabase('gateway');
  admin = createPool({ url: database.adminUrl, applicationName: 'plans', max: 1 });
  await admin.query(sql`select set_config('search_path', 'gateway', false)`);
  for (let from = 1; from <= ROWS; from += BATCH_ROWS) await insertBatch(from);
  await admin.query(sql`analyze request_log`);
}, 120_000);
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Over the partitions that stand ready; one row in 2,000 is of the account that is asked for. */
async function insertBatch(from: number): Promise<void> {
  await admin.query(sql`
    insert into request_log
      (id, account_id, application_id, key_id, method, route, status, duration_ms, request_id,
       idempotency_mismatch, created_at)
    select id,
           case when rare then ${ACCOUNT} else md5((n % 50)::text)::uuid end,
           case when rare then ${APPLICATION} else md5((n % 50)::text)::uuid end,
           case when rare then ${KEY} else md5((n % 50)::text)::uuid end,
           'GET', case when rare then '/v1/webhooks/:id' else '/v1/charges/:id' end,
           case when rare then 429 else 200 end, 1, id, false, now()
    from (
      select n, n % 2000 = 0 as rare,
             (left(uuid_v7_floor(now() + n * interval '1 week' * ${WEEKS} / ${ROWS})::text, 24)
               || lpad(to_hex(n), 12, '0'))::uuid as id
      from generate_series(${from}::int, ${from + BATCH_ROWS - 1}::int) as n
    ) as numbered`);
}

type Plan = { 'Node Type': string; 'Total Cost': number; Plans?: Plan[] };

/** The plan of what `listRequests` asks, by having it ask for the plan. */
async function explainList(filters: object, startingAfter: string | null): Promise<Plan> {
  let plan: Plan | undefined;
  const explaining: Queryable = {
    query: async <Row extends object>(statement: Parameters<Queryable['query']>[0]) => {
      const [row] = await database.db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
        sql`explain (format json) ${statement}`,
      );
      plan = row?.['QUERY PLAN'][0]?.Plan;
      return [] as Row[];
    },
  };
  await listRequests(explaining, { limit: 21, startingAfter, filters });
  if (plan === undefined) throw new Error('no plan');
  return plan;
}

function scansOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(scansOf)].filter(
    (node) => node['Node Type'] === 'Seq Scan' && node['Total Cost'] > SCAN_COST_MAX,
  );
}

test.each([
  { name: 'nothing', filter: {} },
  { name: 'an account', filter: { account_id: ACCOUNT } },
  { name: 'an account without requests', filter: { account_id: newId() } },
  { name: 'an application', filter: { application_id: APPLICATION } },
  { name: 'a key', filter: { key_id: KEY } },
  { name: 'a request', filter: { request_id: newId() } },
  { name: 'a route', filter: { route: '/v1/webhooks/:id' } },
  { name: 'a status', filter: { status: 429 } },
  { name: 'the status of most', filter: { status: 200 } },
  {
    name: 'dates',
    filter: { created_after: new Date(), created_before: new Date(Date.now() + 1e8) },
  },
  {
    name: 'a key and a status, further down',
    filter: { key_id: KEY, status: 429 },
    startingAfter: newId(),
  },
])(
  'a page by $name reads indexes alone, partition by partition',
  async ({ filter, startingAfter = null }) => {
    const plan = await explainList(filter, startingAfter);
    expect(scansOf(plan)).toEqual([]);
    expect(plan['Total Cost']).toBeLessThan(COST_MAX);
  },
);
