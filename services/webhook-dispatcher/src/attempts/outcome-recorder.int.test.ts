import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { cancelLanes } from '#lanes/cancel-lanes.sql.ts';
import { claimLanes, type ClaimedLane } from '#lanes/claim-lanes.sql.ts';
import { queueResends } from '#lanes/queue-resends.sql.ts';
import { databaseClock } from '#schedule-clock.ts';
import { fetchDue } from '#sending/fetch-due.sql.ts';
import { claimOptions } from '#test/claim-options.ts';
import { aBacklog } from '#test/a-backlog.ts';
import { anOutcome } from '#test/an-outcome.ts';
import { genericPlan } from '#test/generic-plan.ts';
import { emptyQueue } from '#test/read-queue.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';

import type { DueDelivery } from './due-delivery.ts';
import { createOutcomeRecorder } from './outcome-recorder.ts';
import {
  type AttemptOutcome,
  type LaneChange,
  dropQueuedMeanwhileStatement,
  recordOutcomes,
  recordOutcomesStatement,
} from './record-outcomes.sql.ts';
import { ATTEMPTS_MAX } from './retry-schedule.ts';

const LEASE_MS = 60_000;
const RETRY_DELAY_MS = 60_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});

afterEach(async () => {
  await emptyQueue(database.db);
  await database.db.query(sql`update lanes set leased = false, claimable_at = 'infinity'`);
});
afterAll(() => database[Symbol.asyncDispose]());

describe('an outcome', () => {
  test('and the end of its endpoint may meet over the same deliveries without waiting in a circle', async () => {
    for (let round = 0; round < 20; round += 1) {
      const endpoint = await storeEndpoint(database.db);
      const { lane, due } = await aClaim(100, endpoint.id);
      await database.db.query(
        sql`update endpoints set deleted_at = now() where id = ${endpoint.id}`,
      );
      const outcomes = due.toReversed().map((one) => anOutcome(one, lane));
      const [recorded] = await Promise.all([record(outcomes), cancelLanes(database.db, [lane.id])]);
      expect(recorded).toBe(due.length);
      await cancelLanes(database.db, [lane.id]);
    }
  });

  test('of a claim that was taken over changes nothing and is refused', async () => {
    const { lane, due } = await aClaim();
    await database.db.query(sql`update lanes set fence = fence + 1 where id = ${lane.id}`);
    const breaker = { laneId: lane.id, fence: lane.fence, failureCount: 5, probeDelayMs: 1_000 };
    expect(await record([anOutcome(due[0]!, lane)], [breaker])).toBe(0);
    expect(await stateOf(due[0]!)).toEqual({ status: 'pending', attempts: 0, attempt_count: 0 });
    const [row] = await database.db.query(
      sql`select failure_count, probe_at from lanes where id = ${lane.id}`,
    );
    expect(row).toEqual({ failure_count: 0, probe_at: null });
    const current = { ...lane, fence: lane.fence + 1n };
    expect(await record([anOutcome(due[0]!, current)])).toBe(1);
    expect(await stateOf(due[0]!)).toEqual({ status: 'succeeded', attempts: 1 });
  });

  test('recorded again after a lost answer is one attempt, of a success and of a failure alike', async () => {
    const { lane, due } = await aClaim(2);
    const outcomes = [anOutcome(due[0]!, lane), aFailure(due[1]!, lane)];
    expect([await record(outcomes), await record(outcomes)]).toEqual([2, 2]);
    expect(await stateOf(due[0]!)).toEqual({ status: 'succeeded', attempts: 1 });
    expect(await stateOf(due[1]!)).toEqual({ status: 'pending', attempts: 1, attempt_count: 1 });
  });

  test('of an attempt that two owners of the lane have made counts once', async () => {
    const { lane, due } = await aClaim();
    const [one] = due;
    await record([aFailure(one!, lane)]);
    const due_at = async () =>
      await database.db.query(sql`select due_at from queue where id = ${one!.queueId}`);
    const dueBefore = await due_at();
    await record([aFailure(one!, lane)]);
    expect(await stateOf(one!)).toEqual({ status: 'pending', attempts: 2, attempt_count: 1 });
    expect(await due_at()).toEqual(dueBefore);
    await record([aFailure({ ...one!, attemptNumber: 2 }, lane)]);
    expect(await stateOf(one!)).toEqual({ status: 'pending', attempts: 3, attempt_count: 2 });
  });

  test('that the database refuses does not hold up the others of its batch', async () => {
    const { lane, due } = await aClaim(3);
    const recorder = createOutcomeRecorder({
      db: database.db,
      clock: databaseClock,
      logger: createLogger('test', 'silent'),
      inFlight: () => due.length,
      waitsForStoring: () => false,
    });
    const excerpts = ['ok', 'a\u0000b', 'ok'];
    await Promise.all(
      due.map((each, index) =>
        recorder.record({
          attempt: { ...anOutcome(each, lane), responseExcerpt: excerpts[index]! },
          lane: null,
        }),
      ),
    );
    const rows = await database.db.query<{ response_excerpt: string | null }>(sql`
      select response_excerpt from attempts
      where delivery_id = any (${due.map(({ deliveryId }) => deliveryId)}::uuid[])`);
    expect(rows.map((row) => row.response_excerpt ?? '').toSorted()).toEqual(['', 'ok', 'ok']);
  });

  test('of a delivery that was canceled meanwhile is one more attempt, and it stays canceled', async () => {
    const { lane, due } = await aClaim(2);
    const ids = due.map(({ deliveryId }) => deliveryId);
    await database.db.query(sql`delete from queue where delivery_id = any (${ids}::uuid[])`);
    await database.db.query(
      sql`update deliveries set status = 'canceled' where id = any (${ids}::uuid[])`,
    );
    expect(await record([anOutcome(due[0]!, lane), aFailure(due[1]!, lane)])).toBe(2);
    for (const each of due) {
      expect(await stateOf(each)).toEqual({ status: 'canceled', attempts: 1 });
    }
  });

  test('moves the next attempt by its delay from now, behind first attempts', async () => {
    const { lane, due } = await aClaim();
    await record([aFailure(due[0]!, lane)]);
    const [row] = await database.db.query<{ rank: number; due_in_ms: number }>(sql`
      select rank, extract(epoch from due_at - now())::float8 * 1000 as due_in_ms
      from queue where id = ${due[0]!.queueId}`);
    expect(row?.rank).toBe(1);
    expect(row?.due_in_ms).toBeLessThanOrEqual(RETRY_DELAY_MS);
    expect(row?.due_in_ms).toBeGreaterThan(RETRY_DELAY_MS - 10_000);
  });

  test('of the last attempt ends the delivery', async () => {
    const { lane, due } = await aClaim();
    await database.db.query(sql`update queue set attempt_count = ${ATTEMPTS_MAX - 1}`);
    await record([{ ...aFailure(due[0]!, lane), retryDelayMs: null }]);
    expect(await stateOf(due[0]!)).toEqual({ status: 'failed', attempts: 1 });
  });
});

describe('a re-send', () => {
  test.each(['pending', 'failed', 'canceled', 'skipped'])(
    'that succeeds ends a delivery that was %s, with its schedule',
    async (status) => {
      const { lane, due } = await aClaim();
      const { deliveryId } = due[0]!;
      await database.db.query(
        sql`update deliveries set status = ${status} where id = ${deliveryId}`,
      );
      const resend = await aResend(due[0]!, lane);
      expect(resend).toMatchObject({ isResend: true, deliveryId, rank: 0 });
      await record([anOutcome(resend, lane)]);
      expect(await stateOf(due[0]!)).toEqual({ status: 'succeeded', attempts: 1 });
      // What was out meanwhile brings its attempt and changes nothing.
      await record([aFailure(due[0]!, lane)]);
      expect(await stateOf(due[0]!)).toEqual({ status: 'succeeded', attempts: 2 });
    },
  );

  test('that fails leaves the delivery and its schedule as they were', async () => {
    const { lane, due } = await aClaim();
    const resend = await aResend(due[0]!, lane);
    await record([{ ...aFailure(resend, lane), retryDelayMs: null }]);
    expect(await stateOf(due[0]!)).toEqual({ status: 'pending', attempts: 1, attempt_count: 0 });
    expect(await database.db.query(sql`select id from queue where is_resend`)).toEqual([]);
    const [attempt] = await database.db.query(
      sql`select manual from attempts where delivery_id = ${due[0]!.deliveryId}`,
    );
    expect(attempt).toEqual({ manual: true });
  });

  test('and the schedule of one delivery may be recorded at once', async () => {
    const { lane, due } = await aClaim();
    const resend = await aResend(due[0]!, lane);
    await record([aFailure(due[0]!, lane), anOutcome(resend, lane)]);
    expect(await stateOf(due[0]!)).toEqual({ status: 'succeeded', attempts: 2 });
  });

  test('counts for the recovery that asked for it', async () => {
    const { lane, due } = await aClaim(2);
    const id = newId();
    await database.db.query(sql`
      insert into recoveries
        (id, account_id, statuses, created_from, created_until, rate_per_second, requested_by, fingerprint)
      values (${id}, ${newId()}, '{failed}', now(), now(), 10, 'operator', '')`);
    const resends = [await aResend(due[0]!, lane, id), await aResend(due[1]!, lane, id)];
    expect(resends.map(({ rank }) => rank)).toEqual([2, 2]);
    const [first, second] = resends;
    await record([anOutcome(first!, lane), { ...aFailure(second!, lane), retryDelayMs: null }]);
    const [row] = await database.db.query(
      sql`select succeeded_count, failed_count from recoveries where id = ${id}`,
    );
    expect(row).toEqual({ succeeded_count: 1, failed_count: 1 });
  });
});

test('an endpoint has its attempts counted, and since when it fails', async () => {
  const { id } = await storeEndpoint(database.db);
  const { lane, due } = await aClaim(4, id);
  await record([aFailure(due[0]!, lane)]);
  await record([{ ...aFailure(due[1]!, lane), startedAt: new Date(due[1]!.fetchedAtMs + 500) }]);
  const first = new Date(due[0]!.fetchedAtMs + 3);
  expect(await healthOf(id)).toMatchObject({
    succeeded_count: 0n,
    failed_count: 2n,
    failing_since: first,
    last_success_at: null,
  });
  await record([{ ...anOutcome(due[2]!, lane), startedAt: new Date(due[2]!.fetchedAtMs + 900) }]);
  expect(await healthOf(id)).toMatchObject({ succeeded_count: 1n, failing_since: null });
  const later = new Date(due[3]!.fetchedAtMs + 2_000);
  await record([{ ...aFailure(due[3]!, lane), startedAt: later }]);
  expect(await healthOf(id)).toMatchObject({
    failed_count: 3n,
    failing_since: new Date(later.getTime() + 3),
  });
});

test('outcomes that two processes store at once, each in its own order, never deadlock', async () => {
  const { lane, due } = await aClaim(40);
  for (let round = 0; round < 20; round += 1) {
    await database.db.query(sql`update queue set attempt_count = 0`);
    const batches = [due, due.toReversed()].map((each) => each.map((one) => aFailure(one, lane)));
    const stored = await Promise.all(batches.map((batch) => record(batch)));
    expect(stored).toEqual([due.length, due.length]);
  }
});

test('outcomes find their rows by key, however many there are, also by an early plan', async () => {
  await using other = await createTestDatabase('webhook_dispatcher');
  const statements = [
    recordOutcomesStatement(databaseClock, { outcomes: [], lanes: [] }),
    dropQueuedMeanwhileStatement([]),
  ];
  const plans = () => Promise.all(statements.map((statement) => genericPlan(other.db, statement)));
  const early = await plans();
  for (let lane = 0; lane < 20; lane += 1) {
    await aBacklog(other.db, { laneId: newId(), count: 200 });
  }
  await other.db.query(
    sql`insert into lanes (id) select gen_random_uuid() from generate_series(1, 5000)`,
  );
  await using superuser = createPool({ url: other.adminUrl, applicationName: 'test' });
  await superuser.query(sql`
    analyze webhook_dispatcher.lanes, webhook_dispatcher.queue, webhook_dispatcher.deliveries_first`);
  for (const { scans } of [...early, ...(await plans())]) {
    expect(scans).toEqual([]);
  }
});

/** A lane as a sender has it, with what it fetched. */
async function aClaim(count = 1, endpointId: string | null = null) {
  const laneId = endpointId ?? newId();
  await aBacklog(database.db, { laneId, count, endpointId });
  const [lane] = await claimLanes(database.db, claimOptions({ leaseMs: LEASE_MS }));
  expect(lane?.id).toBe(laneId);
  return { lane: lane!, due: await fetchAll(lane!) };
}

async function fetchAll({ id }: ClaimedLane): Promise<DueDelivery[]> {
  const request = { id, take: 100, recovered: 100, wantsOther: false, inFlight: [] };
  return (await fetchDue(database.db, databaseClock, [request])).due;
}

async function aResend(
  { deliveryId }: DueDelivery,
  lane: ClaimedLane,
  recoveryId: string | null = null,
): Promise<DueDelivery> {
  await database.db.transaction((tx) =>
    queueResends(tx, databaseClock, { deliveryIds: [deliveryId], recoveryId }),
  );
  const found = (await fetchAll(lane)).find((due) => due.isResend && due.deliveryId === deliveryId);
  expect(found).toBeDefined();
  return found!;
}

async function record(
  outcomes: readonly AttemptOutcome[],
  lanes: readonly LaneChange[] = [],
): Promise<number> {
  return (await recordOutcomes(database.db, databaseClock, { outcomes, lanes })).size;
}

function aFailure(due: DueDelivery, lane: ClaimedLane): AttemptOutcome {
  const failed = { outcome: 'failed', status: 500, retryDelayMs: RETRY_DELAY_MS } as const;
  return { ...anOutcome(due, lane), ...failed };
}

/** `attempt_count` only while its schedule goes on. */
async function stateOf({ deliveryId }: { deliveryId: string }): Promise<object> {
  const [row] = await database.db.query<{ status: string; attempts: number }>(sql`
    select status, (select count(*)::int from attempts where delivery_id = deliveries.id) as attempts
    from deliveries where id = ${deliveryId}`);
  const [queued] = await database.db.query(
    sql`select attempt_count from queue where id = ${deliveryId}`,
  );
  return { ...row, ...queued };
}

async function healthOf(endpointId: string) {
  const [row] = await database.db.query(
    sql`select * from endpoint_health where endpoint_id = ${endpointId}`,
  );
  return row;
}
