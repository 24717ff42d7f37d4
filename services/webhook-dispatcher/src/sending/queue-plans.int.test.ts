import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  type AttemptOutcome,
  recordOutcomes,
  recordOutcomesStatement,
} from '#attempts/record-outcomes.sql.ts';
import { cancelLanesStatement } from '#lanes/cancel-lanes.sql.ts';
import { claimLanes, claimLanesStatement, renewLanes } from '#lanes/claim-lanes.sql.ts';
import { countDueLanesStatement } from '#lanes/count-due-lanes.sql.ts';
import { releaseStatement } from '#lanes/release-lanes.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { claimOptions } from '#test/claim-options.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { genericPlan } from '#test/generic-plan.ts';

import { fetchDue, fetchDueStatement } from './fetch-due.sql.ts';

const clock = databaseClock;
/** Retries that wait for their time, over many lanes, and what is due behind one open breaker. */
const FUTURE = scaled(20_000, 1_000_000);
const BLOCKED = scaled(5_000, 100_000);
const LANES = scaled(500, 5_000);
/** Pages that a statement may read, however much is stored. */
const PAGES_MAX = 600;
const SET_UP_TIMEOUT_MS = 300_000;
const FIRST_ACCOUNT = '00000000-0000-7000-8000-000000000001';

let database: TestDatabase;
const [due, blocked] = [newId(), newId()];

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  await using superuser = createPool({ url: database.adminUrl, applicationName: 'test' });
  await superuser.query(sql`set search_path to webhook_dispatcher`);
  for (let done = 0; done < FUTURE; done += 20_000) {
    await database.db.query(sql`
      insert into queue (id, delivery_id, event_id, lane_id, for_resource_url, rank, attempt_count, due_at)
      select id, id, id, md5(('lane' || number % ${LANES}::int)::text)::uuid, false, 1, 1,
        now() + interval '1 hour' + random() * interval '12 hours'
      from (select gen_random_uuid() as id, number from generate_series(1, 20000) number) new`);
  }
  await database.db.query(sql`
    insert into lanes (id, claimable_at)
    select lane_id, min(due_at) from queue group by lane_id`);
  await database.db.query(sql`
    insert into lanes (id, claimable_at, leased, failure_count, probe_at)
    values (${blocked}, now() + interval '10 seconds', true, 50, now() + interval '1 second')`);
  for (let done = 0; done < BLOCKED; done += 5_000) {
    await database.db.query(sql`
      insert into queue (id, delivery_id, event_id, lane_id, for_resource_url, due_at)
      select id, id, id, ${blocked}, false, now() - random() * interval '1 hour'
      from (select gen_random_uuid() as id from generate_series(1, 5000)) new`);
  }
  for (let count = 0; count < 3; count += 1) {
    await aBacklog(database.db, { laneId: count === 0 ? due : newId(), count: 30 });
  }
  await superuser.query(sql`vacuum analyze webhook_dispatcher.queue, webhook_dispatcher.lanes`);
}, SET_UP_TIMEOUT_MS);

afterAll(() => database[Symbol.asyncDispose]());

const requests = [due, blocked].map((id) => ({
  id,
  take: 10,
  recovered: 5,
  wantsOther: true,
  inFlight: [newId(), newId()],
}));
const claim = claimOptions({ limit: 64, leaseMs: 13_000, owned: [newId()] });

describe('whatever else is stored', () => {
  test('a fetch reads the beginnings of its lanes, also of one with a long backlog', async () => {
    const { scans, rowsRead, pagesRead } = await explainStatement(
      database.db,
      fetchDueStatement(clock, requests),
    );
    expect(scans.filter((scan) => /seq/i.test(scan))).toEqual([]);
    expect(scans).toContain('queue_lane');
    expect(rowsRead).toBeLessThan(200);
    expect(pagesRead).toBeLessThan(PAGES_MAX);
  });

  test('a claim reads the lanes that are due', async () => {
    const { rowsRead, pagesRead } = await explainStatement(database.db, claimLanesStatement(claim));
    expect(rowsRead).toBeLessThan(50);
    expect(pagesRead).toBeLessThan(PAGES_MAX);
    await database.db.query(sql`
      update lanes set leased = false, claimable_at = now() - interval '1 second' where id = ${due}`);
  });

  test('a release reads the first of each rank', async () => {
    const statement = releaseStatement(clock, [due, blocked]);
    const { scans, rowsRead, pagesRead } = await explainStatement(database.db, statement);
    expect(scans.filter((scan) => /seq/i.test(scan))).toEqual([]);
    expect(rowsRead).toBeLessThan(50);
    expect(pagesRead).toBeLessThan(PAGES_MAX);
  });

  test('the gauges read what waits for a sender, and the first of each lane that is served', async () => {
    const statement = countDueLanesStatement(clock, claim.leaseMs);
    const { scans, pagesRead } = await explainStatement(database.db, statement);
    expect(new Set(scans)).toEqual(
      new Set(['lanes_joining', 'lanes_waiting', 'delivery_rates_pkey', 'queue_lane']),
    );
    expect(pagesRead).toBeLessThan(PAGES_MAX);
  });
});

test('of each account the gauges read its oldest lane, however many it has, and they count up to a bound', async () => {
  await using many = await createTestDatabase('webhook_dispatcher');
  await using superuser = createPool({ url: many.adminUrl, applicationName: 'test' });
  const accounts = 500;
  // The first by id has twice as many lanes as are counted.
  await many.db.query(sql`
    insert into lanes (id, account_id, claimable_at, waiting)
    select
      gen_random_uuid(),
      case when number <= 20000 then ${FIRST_ACCOUNT} else md5((number % ${accounts}::int)::text) end::uuid,
      now() - random() * interval '1 hour',
      true
    from generate_series(1, 20000 + 10 * ${accounts}::int) as number`);
  await superuser.query(sql`vacuum analyze webhook_dispatcher.lanes`);
  const statement = countDueLanesStatement(clock, claim.leaseMs);
  const { scans, rowsRead } = await explainStatement(many.db, statement);
  expect(scans.filter((scan) => /seq|bitmap/i.test(scan))).toEqual([]);
  expect(rowsRead).toBeLessThan(10_000 + 5 * accounts);
});

describe('plans that are kept', () => {
  const statements = {
    fetch: fetchDueStatement(clock, requests),
    claim: claimLanesStatement(claim),
    release: releaseStatement(clock, [due]),
    cancel: cancelLanesStatement([due]),
    gauge: countDueLanesStatement(clock, claim.leaseMs),
    outcomes: recordOutcomesStatement(clock, everyPartOfOutcomes()),
  };

  test.each(Object.entries(statements))('%s reads by keys alone', async (_name, statement) => {
    const { scans } = await genericPlan(database.db, statement);
    expect(scans).toEqual([]);
  });

  test.each(Object.entries(statements))(
    '%s reads by keys alone, also where the plan was made while the tables were empty, or emptied',
    async (_name, statement) => {
      await using empty = await createTestDatabase('webhook_dispatcher');
      expect((await genericPlan(empty.db, statement)).scans).toEqual([]);
      await using superuser = createPool({ url: empty.adminUrl, applicationName: 'test' });
      await superuser.query(sql`vacuum analyze`);
      const options = { url: empty.url, applicationName: 'test', max: 1, plansOnce: true };
      await using pool = createPool(options);
      expect((await genericPlan(pool, statement)).scans).toEqual([]);
    },
  );
});

test('statements that are made all the time are planned once', async () => {
  const { url } = database;
  await using one = createPool({ url, applicationName: 'test', max: 1, plansOnce: true });
  for (let times = 0; times < 12; times += 1) {
    await fetchDue(one, clock, requests);
    await claimLanes(one, claim);
    await renewLanes(one, { clock, leaseMs: 13_000, lanes: [{ id: due, fence: 1n }] });
    await recordOutcomes(one, clock, { outcomes: [], lanes: [] });
  }
  const plans = await one.query<{ name: string; custom_plans: bigint }>(
    sql`select name, custom_plans from pg_prepared_statements where generic_plans + custom_plans >= 12`,
  );
  expect(plans.map(({ name }) => name).toSorted()).toEqual(
    ['lanes_claim', 'lanes_renew', 'outcomes_record', 'queue_fetch_due'].toSorted(),
  );
  expect(plans.filter(({ custom_plans }) => custom_plans > 0)).toEqual([]);
});

/** A batch whose statement leaves nothing out. */
function everyPartOfOutcomes(): Parameters<typeof recordOutcomesStatement>[1] {
  const failed: AttemptOutcome = {
    attemptId: newId(),
    deliveryId: newId(),
    queueId: newId(),
    laneId: due,
    fence: 1n,
    endpointId: newId(),
    isResend: false,
    attemptNumber: 1,
    recoveryId: newId(),
    startedAt: new Date(),
    durationMs: 1,
    outcome: 'failed',
    status: 500,
    error: 'status: answered 500',
    responseExcerpt: null,
    address: null,
    retryDelayMs: 60_000,
  };
  const lane = { laneId: due, fence: 1n, failureCount: 1, probeDelayMs: null };
  return { outcomes: [failed], lanes: [lane] };
}
